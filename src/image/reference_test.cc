#include "image/reference.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"

namespace pondage::image {
namespace {

const std::string kHex(64, 'a');
const std::string kDigest = "sha256:" + kHex;

TEST(Reference, TakenApart) {
  struct Row {
    std::string text;
    Reference want;
    std::string shown;
  };
  const Row rows[] = {
      {"tensorflow/tensorflow:2.12.0-gpu",
       {"docker.io", "tensorflow/tensorflow", "2.12.0-gpu", ""},
       "tensorflow/tensorflow:2.12.0-gpu"},
      {"python", {"docker.io", "library/python", "latest", ""}, "python:latest"},
      {"docker.io/library/python:3", {"docker.io", "library/python", "3", ""}, "python:3"},
      {"index.docker.io/a/b:1", {"docker.io", "a/b", "1", ""}, "a/b:1"},
      {"localhost/x", {"localhost", "x", "latest", ""}, "localhost/x:latest"},
      {"localhost:5000/x:1", {"localhost:5000", "x", "1", ""}, "localhost:5000/x:1"},
      {"hub.lab:5000/team/tf",
       {"hub.lab:5000", "team/tf", "latest", ""},
       "hub.lab:5000/team/tf:latest"},
      {"10.0.0.7:5000/tf:a", {"10.0.0.7:5000", "tf", "a", ""}, "10.0.0.7:5000/tf:a"},
      {"[fd00::1]:5000/tf:a", {"[fd00::1]:5000", "tf", "a", ""}, "[fd00::1]:5000/tf:a"},
      {"Hub.Lab/tf:a", {"Hub.Lab", "tf", "a", ""}, "Hub.Lab/tf:a"},
      {"host/x", {"docker.io", "host/x", "latest", ""}, "host/x:latest"},
      {"host:5000", {"docker.io", "library/host", "5000", ""}, "host:5000"},
      {"tf@" + kDigest, {"docker.io", "library/tf", "", kDigest}, "tf@" + kDigest},
      {"tf:2@" + kDigest, {"docker.io", "library/tf", "2", kDigest}, "tf:2@" + kDigest},
      {"a.b/c@" + kDigest, {"a.b", "c", "", kDigest}, "a.b/c@" + kDigest},
      {"a__b/c-d--e.f_g:_X.y-Z",
       {"docker.io", "a__b/c-d--e.f_g", "_X.y-Z", ""},
       "a__b/c-d--e.f_g:_X.y-Z"},
      {"docker.io/host.x/y", {"docker.io", "host.x/y", "latest", ""}, "docker.io/host.x/y:latest"},
      {"library/a/b", {"docker.io", "library/a/b", "latest", ""}, "library/a/b:latest"},
      {"local/0123abcd", {"docker.io", "local/0123abcd", "latest", ""}, "local/0123abcd:latest"},
      {"x:" + std::string(128, 't'),
       {"docker.io", "library/x", std::string(128, 't'), ""},
       "x:" + std::string(128, 't')},
  };
  for (const Row& row : rows) {
    const auto reference = Parse(row.text);
    ASSERT_TRUE(reference) << row.text << ": " << reference.error().message;
    EXPECT_EQ(*reference, row.want) << row.text;
    EXPECT_EQ(reference->Short(), row.shown);
    const auto again = Parse(reference->Short());
    ASSERT_TRUE(again) << row.shown;
    EXPECT_EQ(*again, *reference) << "the short form means the same";
  }
}

TEST(Reference, RefusedWithItsReason) {
  const std::string rows[] = {
      "",
      " ",
      ":tag",
      "@" + kDigest,
      "/x",
      "x/",
      "a//b",
      "TensorFlow/tf",
      "tf:",
      "tf:-x",
      "tf:.x",
      "tf:a b",
      "tf:" + std::string(129, 't'),
      "tf@",
      "tf@sha256:abc",
      "tf@sha256:" + kHex + "0",
      "tf@sha256:" + std::string(64, 'A'),
      "tf@md5:" + kHex,
      "tf@" + kDigest + "@" + kDigest,
      "-a",
      "a-",
      "a..b",
      "a___b",
      "a._b",
      "_a",
      ".a",
      "host:port/x",
      "host:123456/x",
      "host:/x",
      "-bad.host/x",
      "bad-.host/x",
      "a..b/x",
      "[::1/x",
      "[zz::]:1/x",
      "http://hub.lab/x",
      "tf\n",
      std::string("tf\0x", 4),
      "\xc3\xa4/x",
      kHex,
      "a/" + std::string(254, 'b'),
  };
  for (const std::string& text : rows) {
    const auto reference = Parse(text);
    ASSERT_FALSE(reference) << '"' << text << '"';
    EXPECT_EQ(reference.error().id, "PND-E002");
    EXPECT_EQ(reference.error().kind, base::Kind::kInvalid);
    EXPECT_FALSE(reference.error().message.empty());
  }
}

TEST(Reference, WhichEnvironmentServesWhichImage) {
  const std::string other = "sha256:" + std::string(64, 'b');
  struct Row {
    std::string_view says;
    std::string offered;
    std::string asked;
    bool serves;
  };
  const Row rows[] = {
      {"the same tag", "tf:2.12", "tf:2.12", true},
      {"another tag", "tf:2.12", "tf:2.13", false},
      {"written in full", "tf:2.12", "docker.io/library/tf:2.12", true},
      {"no tag is latest", "tf", "tf:latest", true},
      {"another repository", "tf:2", "tg:2", false},
      {"another registry", "hub.lab/tf:2", "tf:2", false},
      {"the digest decides when one is asked for", "tf:2@" + kDigest, "tf:1@" + kDigest, true},
      {"another digest", "tf:2@" + kDigest, "tf:2@" + other, false},
      {"a digest is asked for and none is known", "tf:2", "tf:2@" + kDigest, false},
      {"a tag is asked for, its digest is known", "tf:2@" + kDigest, "tf:2", true},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(Serves(*Parse(row.offered), *Parse(row.asked)), row.serves) << row.says;
  }
}

// What is read survives being written and read again; noise is refused and never crashes.
TEST(Reference, NoiseIsRefusedOrSurvivesARoundTrip) {
  constexpr std::string_view kAlphabet = "ab0Z._-:/@[]sha256:\n";
  base::Random random(3);
  int accepted = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::string text;
    for (std::uint64_t length = random.Below(12); text.size() < length;) {
      text += kAlphabet[random.Below(kAlphabet.size())];
    }
    const auto reference = Parse(text);
    if (!reference) continue;
    ++accepted;
    const auto again = Parse(reference->Short());
    ASSERT_TRUE(again) << text << " -> " << reference->Short();
    ASSERT_EQ(*again, *reference) << text;
  }
  EXPECT_GT(accepted, 1000);
}

}  // namespace
}  // namespace pondage::image

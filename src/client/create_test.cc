#include "client/create.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <vector>

#include "client/fake_server_test.h"

namespace pondage::client {
namespace {

using namespace std::chrono_literals;

const Said kLost{.silent = true};
const Said kMade{.status = 201, .body = "{}"};
const Said kTaken{.status = 409, .body = R"({"reason":"AlreadyExists","message":"exists"})"};
const Said kRefused{.status = 422, .body = R"({"message":"bad"})"};
const Said kBusy{.status = 503, .body = R"({"message":"later"})"};
const Said kNone{.status = 404, .body = R"({"message":"none"})"};

// What the server answers to each POST in turn, the last one again and again; to a GET `there`, or
// the object of the last POST.
struct Row {
  std::string says;
  std::vector<Said> posts;
  std::optional<Said> there;
  std::string error;  // empty: it was made
  bool may_exist = false;
  long asked = 1;  // POSTs; 0: as often as patience lasts
};

TEST(Create, IsDoneOnceWhateverBecomesOfTheConnection) {
  const Row rows[] = {
      {"made", {kMade}, {}, ""},
      {"refused", {kRefused}, {}, "PND-C009"},
      {"taken by another", {kTaken}, {}, "PND-C007"},
      {"a server that takes nothing now is not asked again", {kBusy}, {}, "PND-C013"},
      {"lost, and not carried out", {kLost, kMade}, {}, "", false, 2},
      {"lost, and carried out", {kLost, kTaken}, {}, "", false, 2},
      {"lost, then the server was busy", {kLost, kBusy, kTaken}, {}, "", false, 3},
      {"lost, and the name is another's",
       {kLost, kTaken},
       Said{.body = R"({"metadata":{"annotations":{"pondage.dev/request-id":"x"}}})"},
       "PND-C007",
       false,
       2},
      {"lost, and refused at the second look", {kLost, kRefused}, kNone, "PND-C009", false, 2},
      {"lost, and the look is lost, too", {kLost, kTaken}, kLost, "PND-C023", true, 0},
      {"lost again and again", {kLost}, {}, "PND-C023", true, 0},
  };
  for (const Row& row : rows) {
    std::atomic<std::size_t> posts = 0;
    std::string last;
    FakeServer server([&](const Asked& asked) {
      if (asked.method == "GET") return row.there.value_or(Said{.body = last});
      last = asked.body;
      return row.posts[std::min(posts++, row.posts.size() - 1)];
    });
    ServerPlace place = *ParseServerUrl(server.url());
    Client client(place, 5s);
    const Creation creation =
        Create(client, "/jobs", {{"metadata", {{"name", "a"}}}}, row.asked == 0 ? 0ms : 1min);
    EXPECT_EQ(creation.outcome ? "" : creation.outcome.error().id, row.error) << row.says;
    EXPECT_EQ(creation.may_exist, row.may_exist) << row.says;
    if (row.asked > 0) {
      EXPECT_EQ(posts, static_cast<std::size_t>(row.asked)) << row.says;
    }
  }
}

TEST(Create, EachCallHasAMarkOfItsOwn) {
  std::vector<std::string> marks;
  FakeServer server([&](const Asked& asked) {
    marks.push_back(Text(json::parse(asked.body), {"metadata", "annotations", kRequestId}));
    return kMade;
  });
  Client client(*ParseServerUrl(server.url()), 5s);
  const json::object old{
      {"metadata", {{"name", "a"}, {"annotations", {{kRequestId, "old"}, {"x", "kept"}}}}}};
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(Create(client, "/jobs", old, 0ms).outcome);
  ASSERT_EQ(marks.size(), 2U);
  EXPECT_NE(marks[0], marks[1]);
  EXPECT_NE(marks[0], "old");
  EXPECT_EQ(Text(json::parse(server.asked()[0].body), {"metadata", "annotations", "x"}), "kept");
}

}  // namespace
}  // namespace pondage::client

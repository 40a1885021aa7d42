// A start that is refused: by what, and that nothing is left of it.
#include "cmd/server.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

#include "api/listener.h"
#include "api/private_file.h"
#include "base/test_directory.h"
#include "cmd/premises.h"

namespace pondage::cmd {
namespace {

namespace fs = std::filesystem;

class Start : public ::testing::Test {
 protected:
  ServeSettings Good() const {
    return {.data_dir = (root_ / "data").string(), .port = 0, .virtual_gpus = "2"};
  }

  const base::TestDirectory place_;
  const fs::path root_ = place_.path();
};

TEST_F(Start, RefusedLeavesNothingBehind) {
  const auto taken = api::Listener::On("127.0.0.1", 0);
  ASSERT_TRUE(taken) << taken.error().message;
  struct Row {
    const char* id;
    std::function<void(ServeSettings&)> wrong;
  };
  const Row rows[] = {
      {"PND-A022", [&](ServeSettings& s) { s.port = taken->port(); }},
      {"PND-A021", [](ServeSettings& s) { s.address = "here"; }},
      {"PND-A022", [](ServeSettings& s) { s.address = "192.0.2.7"; }},  // nobody's (RFC 5737)
      {"PND-C002", [](ServeSettings& s) { s.mounts = {"/no/such/place:/data"}; }},
      {"PND-C002", [](ServeSettings& s) { s.mounts = {"/tmp"}; }},
      {"PND-R005", [](ServeSettings& s) { s.mounts = {"/tmp:/proc"}; }},
      {"PND-R005", [](ServeSettings& s) { s.mounts = {"/tmp:" + s.data_dir}; }},
      {"PND-R008", [](ServeSettings& s) { s.run_as = "no-such-account"; }},
      {"PND-C002", [](ServeSettings& s) { s.virtual_gpus = "many"; }},
  };
  for (const Row& row : rows) {
    ServeSettings settings = Good();
    row.wrong(settings);
    const auto server = Server::Start(settings, [](int, int, const std::string& what) {
      ADD_FAILURE() << "it began with " << what;
    });
    ASSERT_FALSE(server) << row.id;
    EXPECT_EQ(server.error().id, row.id) << server.error().message;
    EXPECT_TRUE(fs::is_empty(root_)) << row.id;
  }
}

TEST_F(Start, WithAnyPortTheLastOneComesFirst) {
  const ServeSettings settings = Good();
  fs::create_directory(settings.data_dir);
  std::string last;
  {
    const auto first = FindPremises(settings);
    ASSERT_TRUE(first) << first.error().message;
    last = first->url;
    ASSERT_TRUE(api::WritePrivateFile(AddressFile(settings.data_dir), last + "\n"));
    const auto taken = FindPremises(settings);
    ASSERT_TRUE(taken) << taken.error().message;
    EXPECT_NE(taken->url, last);
  }
  const auto again = FindPremises(settings);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->url, last);
}

TEST_F(Start, TakesNoDirectoryOfOthers) {
  const ServeSettings settings = Good();
  const auto refused = [&] { return !FindPremises(settings); };
  EXPECT_FALSE(refused()) << "it is made";
  fs::create_directories(settings.data_dir + "/lost+found");
  EXPECT_FALSE(refused()) << "a disk of its own";
  fs::create_directory(settings.data_dir + "/src");
  EXPECT_TRUE(refused()) << "a clone of some project";
  fs::create_directory(settings.data_dir + "/pki");
  EXPECT_FALSE(refused()) << "a pool, whatever else";
}

}  // namespace
}  // namespace pondage::cmd

#include "agent/environments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/test_directory.h"

namespace pondage::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class EnvironmentsTest : public ::testing::Test {
 protected:
  std::string MakePython(const std::string& name, const std::string& script, bool venv = true) {
    const fs::path prefix = directory_ / name;
    fs::create_directories(prefix / "bin");
    if (venv) std::ofstream(prefix / "pyvenv.cfg") << "home = /usr/bin\n";
    std::ofstream(prefix / "bin/python") << "#!/bin/sh\n" << script << "\n";
    fs::permissions(prefix / "bin/python", fs::perms::owner_all);
    return prefix;
  }
  std::string Good(const std::string& name) {
    return MakePython(name,
                      R"(echo '{"python": "3.11.2", "tensorflow": "2.21.0", "keras": "3.15.1"}')");
  }

  const base::TestDirectory place_;
  const fs::path directory_ = place_.path();
};

TEST_F(EnvironmentsTest, RemembersWhatServesAnImage) {
  const std::string prefix = Good("venv");
  Environments environments(directory_);
  const auto added = environments.Add("docker.io/tensorflow/tensorflow:2.21.0", prefix + "/");
  ASSERT_TRUE(added) << added.error().message;
  EXPECT_EQ(*added,
            (Environment{"tensorflow/tensorflow:2.21.0", prefix, "3.11.2", "2.21.0", "3.15.1"}));

  Environments another(directory_);  // another process
  const auto found = another.For("tensorflow/tensorflow:2.21.0");
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, *added);
  EXPECT_EQ(another.List()->size(), 1u);

  const auto missing = another.For("tensorflow/tensorflow:2.20.0");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().id, "PND-E001");
  EXPECT_THAT(missing.error().message, HasSubstr("there are: tensorflow/tensorflow:2.21.0"));

  EXPECT_TRUE(another.Remove("tensorflow/tensorflow:2.21.0"));
  EXPECT_FALSE(another.Remove("tensorflow/tensorflow:2.21.0"));
  EXPECT_TRUE(environments.List()->empty());
}

TEST_F(EnvironmentsTest, OneImageHasOnePrefix) {
  Environments environments(directory_);
  ASSERT_TRUE(environments.Add("img:1", Good("a")));
  ASSERT_TRUE(environments.Add("img:1", Good("a")));  // its versions are read again
  const auto second = environments.Add("img:1", Good("b"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().id, "PND-E005");
}

TEST_F(EnvironmentsTest, RefusesWhatIsNoPython) {
  Environments environments(directory_);
  for (const std::string& prefix :
       {directory_.string() + "/none", std::string("relative"), MakePython("fails", "exit 1"),
        MakePython("speaks", "echo hello"), MakePython("mute", "exec 1>&-; sleep 1000")}) {
    const auto refused = environments.Add("img:1", prefix);
    ASSERT_FALSE(refused) << prefix;
    EXPECT_EQ(refused.error().id, "PND-E003") << prefix;
  }
  EXPECT_FALSE(environments.Add("Not An Image", Good("a")));
}

TEST_F(EnvironmentsTest, APrefixWithPython3AloneIsServedThroughLinks) {
  Environments environments(directory_);
  const std::string shared = MakePython("usr", R"(echo '{"python": "3.9.0"}')", false);
  fs::rename(shared + "/bin/python", shared + "/bin/python3");
  const auto system = environments.Add("img:1", shared);
  ASSERT_TRUE(system) << system.error().message;
  EXPECT_EQ(system->python, "3.9.0");
  EXPECT_EQ(system->tensorflow, "");
  EXPECT_NE(system->prefix, shared);
  EXPECT_EQ(fs::read_symlink(system->prefix + "/bin/python"), shared + "/bin/python3");
  EXPECT_EQ(environments.Add("img:1", shared)->prefix, system->prefix) << "the same again";
}

}  // namespace
}  // namespace pondage::agent

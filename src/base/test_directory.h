// An empty directory for one test, gone with it. For tests only; one thread.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/assert.h"

namespace pondage::base {

class TestDirectory {
 public:
  explicit TestDirectory(
      const std::filesystem::path& below = std::filesystem::temp_directory_path()) {
    std::string name = (below / "pondage-test-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;
  ~TestDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace pondage::base

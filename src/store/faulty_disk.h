// A disk for tests, under SQLite: full, failing to sync, failing now and then, or losing power,
// when any part of what was not synced may be gone and a write may be torn between its sectors.
//
// For tests only. One at a time in a process, one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"

namespace pondage::store {

class FaultyDisk {
 public:
  enum class Weather { kFair, kFull, kNoSync, kRough };  // rough: one write or sync in 60 fails

  explicit FaultyDisk(std::uint64_t seed);
  ~FaultyDisk();
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;

  const char* vfs() const { return "pondage-faulty-disk"; }
  void Set(Weather weather) { weather_ = weather; }
  int faults() const { return faults_; }

  // From now on: after this many writes and syncs the power is lost. What the disk then holds is
  // written to `directory`; the program goes on unaware.
  void LosePowerAfter(int steps, const std::string& directory);
  bool PowerLost() const { return power_lost_; }

  // What the layer tells (see faulty_disk.cc).
  bool MayWrite();
  bool MaySync();
  void Opened(const std::string& path);
  void Wrote(const std::string& path, std::int64_t offset, const void* bytes, int size);
  void Truncated(const std::string& path, std::int64_t size);
  void Synced(const std::string& path);
  void Deleted(const std::string& path) { files_.erase(path); }

 private:
  struct Pending {
    std::int64_t offset;
    std::string bytes;
    bool truncate;
  };
  struct Contents {
    std::string durable;
    std::vector<Pending> pending;
  };
  static void Apply(std::string& contents, const Pending& pending, std::size_t size);
  bool Fails();
  void CountStep();
  void WriteImage();

  base::Random random_;
  Weather weather_ = Weather::kFair;
  int faults_ = 0;
  int steps_left_ = -1;
  bool power_lost_ = false;
  std::string image_directory_;
  std::map<std::string, Contents> files_;
};

}  // namespace pondage::store

#include "store/faulty_disk.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/assert.h"
#include "base/test_directory.h"

namespace pondage::store {
namespace {

constexpr std::size_t kSector = 512;

FaultyDisk* the_disk = nullptr;
sqlite3_vfs the_vfs;

sqlite3_vfs* Unix() {
  return sqlite3_vfs_find("unix");
}

struct File {
  sqlite3_file base;
  const char* path;  // null: not watched; SQLite keeps the name while the file is open
  sqlite3_file* below() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

sqlite3_file* Below(sqlite3_file* file) {
  return reinterpret_cast<File*>(file)->below();
}
const char* PathOf(sqlite3_file* file) {
  return reinterpret_cast<File*>(file)->path;
}

int Write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
  const char* path = PathOf(file);
  if (path == nullptr) return Below(file)->pMethods->xWrite(Below(file), bytes, size, offset);
  if (!the_disk->MayWrite()) return SQLITE_FULL;
  const int code = Below(file)->pMethods->xWrite(Below(file), bytes, size, offset);
  if (code == SQLITE_OK) the_disk->Wrote(path, offset, bytes, size);
  return code;
}

int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  const int code = Below(file)->pMethods->xTruncate(Below(file), size);
  if (code == SQLITE_OK && PathOf(file) != nullptr) the_disk->Truncated(PathOf(file), size);
  return code;
}

int Sync(sqlite3_file* file, int) {
  if (PathOf(file) == nullptr) return SQLITE_OK;
  if (!the_disk->MaySync()) return SQLITE_IOERR_FSYNC;
  the_disk->Synced(PathOf(file));  // the real one would only cost time
  return SQLITE_OK;
}

sqlite3_io_methods MakeMethods() {
  sqlite3_io_methods methods{};
  methods.iVersion = 2;
  methods.xClose = [](sqlite3_file* f) { return Below(f)->pMethods->xClose(Below(f)); };
  methods.xRead = [](sqlite3_file* f, void* bytes, int size, sqlite3_int64 offset) {
    return Below(f)->pMethods->xRead(Below(f), bytes, size, offset);
  };
  methods.xWrite = Write;
  methods.xTruncate = Truncate;
  methods.xSync = Sync;
  methods.xFileSize = [](sqlite3_file* f, sqlite3_int64* size) {
    return Below(f)->pMethods->xFileSize(Below(f), size);
  };
  methods.xLock = [](sqlite3_file* f, int l) { return Below(f)->pMethods->xLock(Below(f), l); };
  methods.xUnlock = [](sqlite3_file* f, int l) { return Below(f)->pMethods->xUnlock(Below(f), l); };
  methods.xCheckReservedLock = [](sqlite3_file* f, int* held) {
    return Below(f)->pMethods->xCheckReservedLock(Below(f), held);
  };
  methods.xFileControl = [](sqlite3_file* f, int what, void* argument) {
    return Below(f)->pMethods->xFileControl(Below(f), what, argument);
  };
  methods.xSectorSize = [](sqlite3_file*) { return static_cast<int>(kSector); };
  // No promise about power: SQLite must not count on sectors beside a write staying whole.
  methods.xDeviceCharacteristics = [](sqlite3_file*) { return 0; };
  methods.xShmMap = [](sqlite3_file* f, int page, int size, int extend, void volatile** map) {
    return Below(f)->pMethods->xShmMap(Below(f), page, size, extend, map);
  };
  methods.xShmLock = [](sqlite3_file* f, int offset, int count, int flags) {
    return Below(f)->pMethods->xShmLock(Below(f), offset, count, flags);
  };
  methods.xShmBarrier = [](sqlite3_file* f) { Below(f)->pMethods->xShmBarrier(Below(f)); };
  methods.xShmUnmap = [](sqlite3_file* f, int remove) {
    return Below(f)->pMethods->xShmUnmap(Below(f), remove);
  };
  return methods;
}

int Open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  static const sqlite3_io_methods methods = MakeMethods();
  auto* opened = reinterpret_cast<File*>(file);
  opened->base.pMethods = nullptr;
  opened->below()->pMethods = nullptr;
  opened->path = (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) != 0
                     ? name
                     : nullptr;
  if (opened->path != nullptr) the_disk->Opened(name);
  const int code = Unix()->xOpen(Unix(), name, opened->below(), flags, out_flags);
  if (opened->below()->pMethods != nullptr) opened->base.pMethods = &methods;
  return code;
}

int Delete(sqlite3_vfs*, const char* name, int sync) {
  the_disk->Deleted(name);
  return Unix()->xDelete(Unix(), name, sync);
}

std::string BytesOf(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

}  // namespace

FaultyDisk::FaultyDisk(std::uint64_t seed) : random_(seed) {
  REQUIRE(the_disk == nullptr);
  the_disk = this;
  static const bool registered = [] {
    sqlite3_initialize();
    the_vfs = *Unix();
    the_vfs.zName = "pondage-faulty-disk";
    the_vfs.pNext = nullptr;
    the_vfs.szOsFile = static_cast<int>(sizeof(File)) + Unix()->szOsFile;
    the_vfs.xOpen = Open;
    the_vfs.xDelete = Delete;
    return sqlite3_vfs_register(&the_vfs, 0) == SQLITE_OK;
  }();
  REQUIRE(registered);
}

FaultyDisk::~FaultyDisk() {
  the_disk = nullptr;
}

void FaultyDisk::LosePowerAfter(int steps, const std::string& directory) {
  steps_left_ = steps;
  power_lost_ = false;
  image_directory_ = directory;
}

bool FaultyDisk::Fails() {
  const bool fails = weather_ == Weather::kRough && random_.OneIn(60);
  faults_ += fails ? 1 : 0;
  return fails;
}

void FaultyDisk::CountStep() {
  if (steps_left_ >= 0 && steps_left_-- == 0) WriteImage();
}

bool FaultyDisk::MayWrite() {
  CountStep();
  if (weather_ == Weather::kFull) return false;
  return !Fails();
}

bool FaultyDisk::MaySync() {
  CountStep();
  if (weather_ == Weather::kNoSync) return false;
  return !Fails();
}

void FaultyDisk::Opened(const std::string& path) {
  if (!files_.contains(path)) files_[path].durable = BytesOf(path);
}

void FaultyDisk::Wrote(const std::string& path, std::int64_t offset, const void* bytes, int size) {
  files_[path].pending.push_back(
      {offset, std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size)),
       false});
}

void FaultyDisk::Truncated(const std::string& path, std::int64_t size) {
  files_[path].pending.push_back({size, "", true});
}

void FaultyDisk::Synced(const std::string& path) {
  Contents& contents = files_[path];
  for (const Pending& pending : contents.pending) {
    Apply(contents.durable, pending, pending.bytes.size());
  }
  contents.pending.clear();
}

void FaultyDisk::Apply(std::string& contents, const Pending& pending, std::size_t size) {
  const auto offset = static_cast<std::size_t>(pending.offset);
  if (pending.truncate) {
    contents.resize(offset);
    return;
  }
  if (contents.size() < offset + size) contents.resize(offset + size);
  contents.replace(offset, size, pending.bytes, 0, size);
}

void FaultyDisk::WriteImage() {
  power_lost_ = true;
  for (const auto& [path, contents] : files_) {
    std::string image = contents.durable;
    for (const Pending& pending : contents.pending) {
      const std::size_t sectors = pending.bytes.size() / kSector;
      switch (random_.Below(3)) {
        case 0:
          break;  // never reached the disk
        case 1:
          Apply(image, pending, pending.bytes.size());
          break;
        default:
          Apply(image, pending, kSector * random_.Below(sectors + 1));
          break;
      }
    }
    const auto name = std::filesystem::path(path).filename();
    std::ofstream out(std::filesystem::path(image_directory_) / name, std::ios::binary);
    out << image;
  }
}

// The disk itself must lose what was not synced, or the tests that use it prove nothing.
TEST(FaultyDisk, LosesWhatWasNotSynced) {
  const base::TestDirectory directory;
  const base::TestDirectory image;
  FaultyDisk disk(1);
  const std::string path = directory.path() + "/f";
  disk.Opened(path);
  disk.Wrote(path, 0, "synced", 6);
  disk.Synced(path);
  bool lost = false;
  bool kept = false;
  for (int i = 0; i < 20; ++i) {
    const std::string big(4096, 'x');
    disk.Wrote(path, 6, big.data(), static_cast<int>(big.size()));
    disk.LosePowerAfter(0, image.path());
    EXPECT_TRUE(disk.MayWrite());
    ASSERT_TRUE(disk.PowerLost());
    const std::string left = BytesOf(image.path() + "/f");
    EXPECT_EQ(left.substr(0, 6), "synced");
    lost = lost || left.size() == 6;
    kept = kept || left.size() == 6 + 4096;
    disk.Deleted(path);
    disk.Wrote(path, 0, "synced", 6);
    disk.Synced(path);
  }
  EXPECT_TRUE(lost && kept);
}

}  // namespace pondage::store

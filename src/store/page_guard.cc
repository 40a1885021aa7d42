#include "store/page_guard.h"

#include <sqlite3.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>

#include "store/crc32c.h"

namespace pondage::store {
namespace {

// SQLite allocates it, with the file of the layer below behind it.
struct File {
  sqlite3_file base;
  bool guarded;
  std::array<char, kPageSize> page;  // a page on its way out, with its sum

  sqlite3_file* below() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};
static_assert(sizeof(File) % 8 == 0, "what lies behind it must be aligned as SQLite aligns");

File* Of(sqlite3_file* file) {
  return reinterpret_cast<File*>(file);
}
sqlite3_file* Below(sqlite3_file* file) {
  return Of(file)->below();
}

std::uint32_t SumOf(const char* page, sqlite3_int64 offset) {
  Crc32c sum;
  sum.Add(static_cast<std::int64_t>(offset / kPageSize));
  sum.AddRaw(page, kPageSize - kReservedBytes);
  return sum.Value();
}

bool IsWholePage(int size, sqlite3_int64 offset) {
  return size == kPageSize && offset % kPageSize == 0;
}

int Read(sqlite3_file* file, void* bytes, int size, sqlite3_int64 offset) {
  const int code = Below(file)->pMethods->xRead(Below(file), bytes, size, offset);
  if (code != SQLITE_OK || !Of(file)->guarded || !IsWholePage(size, offset)) return code;
  const auto* page = static_cast<const char*>(bytes);
  std::uint32_t stored = 0;
  std::memcpy(&stored, page + kPageSize - kReservedBytes, sizeof stored);
  return stored == SumOf(page, offset) ? SQLITE_OK : SQLITE_IOERR_DATA;
}

int Write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
  if (Of(file)->guarded && IsWholePage(size, offset)) {
    auto& page = Of(file)->page;
    std::memcpy(page.data(), bytes, kPageSize);
    const std::uint32_t sum = SumOf(page.data(), offset);
    std::memcpy(page.data() + kPageSize - kReservedBytes, &sum, sizeof sum);
    bytes = page.data();
  }
  return Below(file)->pMethods->xWrite(Below(file), bytes, size, offset);
}

int Close(sqlite3_file* file) {
  return Below(file)->pMethods == nullptr ? SQLITE_OK : Below(file)->pMethods->xClose(Below(file));
}
int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  return Below(file)->pMethods->xTruncate(Below(file), size);
}
int Sync(sqlite3_file* file, int flags) {
  return Below(file)->pMethods->xSync(Below(file), flags);
}
int FileSize(sqlite3_file* file, sqlite3_int64* size) {
  return Below(file)->pMethods->xFileSize(Below(file), size);
}
int Lock(sqlite3_file* file, int level) {
  return Below(file)->pMethods->xLock(Below(file), level);
}
int Unlock(sqlite3_file* file, int level) {
  return Below(file)->pMethods->xUnlock(Below(file), level);
}
int CheckReservedLock(sqlite3_file* file, int* held) {
  return Below(file)->pMethods->xCheckReservedLock(Below(file), held);
}
int FileControl(sqlite3_file* file, int what, void* argument) {
  return Below(file)->pMethods->xFileControl(Below(file), what, argument);
}
int SectorSize(sqlite3_file* file) {
  return Below(file)->pMethods->xSectorSize(Below(file));
}
int DeviceCharacteristics(sqlite3_file* file) {
  return Below(file)->pMethods->xDeviceCharacteristics(Below(file));
}
int ShmMap(sqlite3_file* file, int page, int size, int extend, void volatile** map) {
  return Below(file)->pMethods->xShmMap(Below(file), page, size, extend, map);
}
int ShmLock(sqlite3_file* file, int offset, int count, int flags) {
  return Below(file)->pMethods->xShmLock(Below(file), offset, count, flags);
}
void ShmBarrier(sqlite3_file* file) {
  Below(file)->pMethods->xShmBarrier(Below(file));
}
int ShmUnmap(sqlite3_file* file, int remove) {
  return Below(file)->pMethods->xShmUnmap(Below(file), remove);
}

// Version 2: without memory maps, whose reads could not be checked.
constexpr sqlite3_io_methods kMethods = {2,
                                         Close,
                                         Read,
                                         Write,
                                         Truncate,
                                         Sync,
                                         FileSize,
                                         Lock,
                                         Unlock,
                                         CheckReservedLock,
                                         FileControl,
                                         SectorSize,
                                         DeviceCharacteristics,
                                         ShmMap,
                                         ShmLock,
                                         ShmBarrier,
                                         ShmUnmap,
                                         nullptr,
                                         nullptr};

sqlite3_vfs* Under(sqlite3_vfs* vfs) {
  return static_cast<sqlite3_vfs*>(vfs->pAppData);
}

int Open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  auto* opened = new (file) File();
  opened->guarded = (flags & SQLITE_OPEN_MAIN_DB) != 0;
  opened->below()->pMethods = nullptr;
  const int code = Under(vfs)->xOpen(Under(vfs), name, opened->below(), flags, out_flags);
  if (opened->below()->pMethods != nullptr) opened->base.pMethods = &kMethods;
  return code;
}

struct Layer {
  std::string name;
  sqlite3_vfs vfs;
};

}  // namespace

base::Result<std::string> GuardedVfs(const std::string& under) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<Layer>> layers;  // SQLite keeps pointers into it
  const std::scoped_lock lock(mutex);
  if (const auto found = layers.find(under); found != layers.end()) return found->second->name;
  sqlite3_vfs* below = sqlite3_vfs_find(under.empty() ? nullptr : under.c_str());
  if (below == nullptr) {
    return base::Fail(base::Kind::kInvalid, "PND-S004", under, "SQLite knows no such VFS");
  }
  auto layer = std::make_unique<Layer>();
  layer->name = "pondage-" + std::string(below->zName);
  layer->vfs = *below;
  layer->vfs.zName = layer->name.c_str();
  layer->vfs.pNext = nullptr;
  layer->vfs.pAppData = below;
  layer->vfs.szOsFile = static_cast<int>(sizeof(File)) + below->szOsFile;
  layer->vfs.xOpen = Open;
  // The rest is handed down: the layer below gets its own VFS, since its state hangs there.
  layer->vfs.xDelete = [](sqlite3_vfs* v, const char* name, int sync) {
    return Under(v)->xDelete(Under(v), name, sync);
  };
  layer->vfs.xAccess = [](sqlite3_vfs* v, const char* name, int flags, int* out) {
    return Under(v)->xAccess(Under(v), name, flags, out);
  };
  layer->vfs.xFullPathname = [](sqlite3_vfs* v, const char* name, int size, char* out) {
    return Under(v)->xFullPathname(Under(v), name, size, out);
  };
  layer->vfs.xRandomness = [](sqlite3_vfs* v, int size, char* out) {
    return Under(v)->xRandomness(Under(v), size, out);
  };
  layer->vfs.xSleep = [](sqlite3_vfs* v, int us) { return Under(v)->xSleep(Under(v), us); };
  layer->vfs.xCurrentTime = [](sqlite3_vfs* v, double* out) {
    return Under(v)->xCurrentTime(Under(v), out);
  };
  layer->vfs.xGetLastError = [](sqlite3_vfs* v, int size, char* out) {
    return Under(v)->xGetLastError(Under(v), size, out);
  };
  layer->vfs.xCurrentTimeInt64 = [](sqlite3_vfs* v, sqlite3_int64* out) {
    return Under(v)->xCurrentTimeInt64(Under(v), out);
  };
  if (sqlite3_vfs_register(&layer->vfs, 0) != SQLITE_OK) {
    return base::Fail(base::Kind::kUnavailable, "PND-S004", under, "SQLite refused the page guard");
  }
  return layers.emplace(under, std::move(layer)).first->second->name;
}

}  // namespace pondage::store

#include "store/sqlite_store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "base/test_directory.h"
#include "store/page_guard.h"
#include "store/schema.h"

namespace pondage::store {
namespace {

using base::Instant;
using base::Kind;
using port::Revision;
using testing::HasSubstr;

class SqliteStoreTest : public testing::Test {
 protected:
  std::string Path(const char* name = "store.db") const { return directory_.path() + "/" + name; }
  std::unique_ptr<SqliteStore> Open(Settings settings = {}) {
    if (settings.path.empty()) settings.path = Path();
    auto opened = SqliteStore::Open(std::move(settings));
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? *std::move(opened) : nullptr;
  }
  static port::Change Pod(int number, std::size_t size = 100) {
    return {.key = {"pods", "ml", "p" + std::to_string(number)},
            .uid = "u",
            .body = std::string(size, 'b'),
            .facets = "o:" + std::to_string(number % 7) + "\n"};
  }
  static void Fill(SqliteStore& store, int count, std::size_t size = 100) {
    port::Batch batch;
    for (int i = 0; i < count; ++i) batch.changes.push_back(Pod(i, size));
    ASSERT_TRUE(store.Commit(batch));
  }
  std::unique_ptr<Database> Raw(const std::string& path) {
    return Database::Open({.path = path, .vfs = GuardedVfs("").value()}).value();
  }
  base::TestDirectory directory_;
};

TEST_F(SqliteStoreTest, ASecondOpenerIsToldWhoHasIt) {
  const auto store = Open();
  const auto second = SqliteStore::Open({.path = Path()});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().id, "PND-S002");
  EXPECT_THAT(second.error().message, HasSubstr("process " + std::to_string(getpid())));
}

TEST_F(SqliteStoreTest, AnotherProcessIsRefusedToo) {
  const auto store = Open();
  const pid_t child = fork();
  if (child == 0) {
    const auto second = SqliteStore::Open({.path = Path()});
    _exit(!second && second.error().id == "PND-S002" ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(SqliteStoreTest, ANewerSchemaIsRefusedAndLeftAlone) {
  Fill(*Open(), 3);
  ASSERT_TRUE(Raw(Path())->Run("PRAGMA user_version=99"));
  const auto refused = SqliteStore::Open({.path = Path()});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().id, "PND-S001");
  EXPECT_THAT(refused.error().message, HasSubstr("schema version 99"));
  ASSERT_TRUE(Raw(Path())->Run(("PRAGMA user_version=" + std::to_string(kSteps.size())).c_str()));
  EXPECT_TRUE(Open()->FullCheck()->empty());
}

TEST_F(SqliteStoreTest, AnOlderSchemaIsBroughtForwardWhole) {
  const char* const first[] = {"CREATE TABLE a(x)", "INSERT INTO a VALUES (1)"};
  const char* const failing[] = {first[0], first[1],
                                 "INSERT INTO a VALUES (2); INSERT INTO nowhere"};
  const char* const good[] = {first[0], first[1], "UPDATE a SET x = x + 10"};
  const auto database = Database::Open({.path = Path(), .create = true}).value();
  ASSERT_TRUE(Migrate(*database, first));
  EXPECT_FALSE(Migrate(*database, failing));
  EXPECT_EQ(Query(*database, "SELECT sum(x) FROM a").Number().value(), 1);
  EXPECT_TRUE(Migrate(*database, good));
  EXPECT_TRUE(Migrate(*database, good));  // done: nothing more
  EXPECT_EQ(Query(*database, "SELECT sum(x) FROM a").Number().value(), 11);
  EXPECT_EQ(Migrate(*database, first).error().id, "PND-S001");
}

TEST_F(SqliteStoreTest, SomebodyElsesFileIsRefused) {
  std::ofstream(Path()) << "These are the notes of a person, and no store.\n";
  EXPECT_EQ(SqliteStore::Open({.path = Path()}).error().id, "PND-S005");
  {
    const auto other = Database::Open({.path = Path("other.db"), .create = true}).value();
    ASSERT_TRUE(other->Run("CREATE TABLE t(x)"));
  }
  EXPECT_EQ(SqliteStore::Open({.path = Path("other.db")}).error().id, "PND-S005");
  EXPECT_EQ(SqliteStore::Open({.path = Path("no/such/directory")}).error().id, "PND-S004");
}

TEST_F(SqliteStoreTest, OnlyTheOwnerMayReadTheFiles) {
  const auto store = Open();
  Fill(*store, 1);
  for (const char* name : {"store.db", "store.db-wal", "store.db.lock"}) {
    struct stat file{};
    ASSERT_EQ(stat(Path(name).c_str(), &file), 0) << name;
    EXPECT_EQ(file.st_mode & 077, 0u) << name;
  }
}

TEST_F(SqliteStoreTest, ACleanEndLeavesOneFileAndNoSuspicion) {
  Fill(*Open(), 50);
  EXPECT_FALSE(std::filesystem::exists(Path("store.db-wal")));
  const auto database = Raw(Path());
  EXPECT_EQ(Query(*database, "SELECT clean FROM state").Number().value(), 1);
}

TEST_F(SqliteStoreTest, AfterAnUncleanEndDamageIsLookedFor) {
  Fill(*Open(), 300);
  std::string bytes;
  {
    ASSERT_TRUE(Raw(Path())->Run("UPDATE state SET clean = 0"));
    std::fstream file(Path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(kPageSize * 12 + 100);
    file << "damage";
  }
  {
    const auto store = Open();
    EXPECT_TRUE(store->Damage().empty());
    ASSERT_TRUE(store->Maintain(Instant{0}));
    EXPECT_FALSE(store->Damage().empty());
  }
  const auto again = Open();  // found, not mended: it stays suspected
  ASSERT_TRUE(again->Maintain(Instant{0}));
  EXPECT_FALSE(again->Damage().empty());
}

// A full disk: what is stored can still be changed and deleted.
TEST_F(SqliteStoreTest, TheLogFileHasRoomThatNobodyElseCanTake) {
  const auto blocks = [](const std::string& path) {
    struct stat about{};
    return stat(path.c_str(), &about) == 0 ? about.st_blocks * 512 : -1;
  };
  const int probe = open(Path("probe").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  const bool can = fallocate(probe, FALLOC_FL_KEEP_SIZE, 0, 1 << 20) == 0;
  close(probe);
  if (!can) GTEST_SKIP() << "this file system promises no room";
  const auto store = Open();
  Fill(*store, 10);
  EXPECT_LT(blocks(Path("store.db-wal")), 16 << 20);
  ASSERT_TRUE(store->Maintain(Instant{0}));
  EXPECT_GE(blocks(Path("store.db-wal")), 16 << 20);
  Fill(*store, 10);
  EXPECT_TRUE(store->RoomForNew());
  EXPECT_TRUE(store->FullCheck()->empty());
}

TEST_F(SqliteStoreTest, HistoryIsKeptByTimeAndByCount) {
  Settings settings{.path = Path(), .keep_revisions = 100};
  settings.keep = base::Millis{10'000};
  const auto store = Open(settings);
  for (int i = 0; i < 30; ++i) Fill(*store, 10);
  ASSERT_TRUE(store->Maintain(Instant{1'000}));
  EXPECT_EQ(store->Oldest(), 0);
  ASSERT_TRUE(store->Maintain(Instant{10'999}));
  EXPECT_EQ(store->Oldest(), 0) << "younger than the time that is kept";
  for (int i = 0; i < 5; ++i) Fill(*store, 10);
  while (store->Maintain(Instant{11'000}).value()) {
  }
  EXPECT_EQ(store->Oldest(), 250) << "350 less the hundred that are kept";
  for (int i = 0; i < 20; ++i) Fill(*store, 10);
  while (store->Maintain(Instant{12'000}).value()) {
  }
  EXPECT_EQ(store->Oldest(), 300) << "350 was first seen at 11,000 and is not old enough";
}

TEST_F(SqliteStoreTest, ForgottenHistoryGivesItsSpaceToNewData) {
  Settings settings{.path = Path(), .keep_revisions = 50};
  settings.keep = base::Millis{0};
  settings.log_pages = 10;
  const auto store = Open(settings);
  std::uintmax_t size_after_a_while = 0;
  for (int round = 0; round < 60; ++round) {
    Fill(*store, 20, 3000);
    while (store->Maintain(Instant{round}).value()) {
    }
    if (round == 10) size_after_a_while = std::filesystem::file_size(Path());
  }
  EXPECT_LT(std::filesystem::file_size(Path()), size_after_a_while * 5 / 4);
  EXPECT_LT(std::filesystem::file_size(Path("store.db-wal")), std::uintmax_t{1} << 20);
}

TEST_F(SqliteStoreTest, EvenWithoutMaintenanceTheLogFileIsBounded) {
  const auto store = Open();
  for (int i = 0; i < 40; ++i) Fill(*store, 100, 30'000);
  EXPECT_LT(std::filesystem::file_size(Path("store.db-wal")), std::uintmax_t{100} << 20);
}

TEST_F(SqliteStoreTest, ABackupUnderLoadIsOneMomentOfTheStore) {
  const auto store = Open();
  Fill(*store, 2000, 2000);
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) {
      port::Batch batch;
      for (int j = 0; j < 10; ++j) batch.changes.push_back(Pod(j, static_cast<std::size_t>(i)));
      ASSERT_TRUE(store->Commit(batch));
    }
  });
  const Revision before = store->Newest();
  const auto done = store->Backup(Path("copy.db"));
  const Revision after = store->Newest();
  stop = true;
  writer.join();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(store->Backup(Path("copy.db")).error().kind, Kind::kAlreadyExists);
  std::ofstream(Path("precious")) << "kept";
  ASSERT_EQ(symlink(Path("precious").c_str(), Path("second.db.partial").c_str()), 0);
  ASSERT_TRUE(store->Backup(Path("second.db")));
  EXPECT_EQ(std::filesystem::file_size(Path("precious")), 4u) << "a link is not written through";
  EXPECT_FALSE(std::filesystem::exists(Path("copy.db-wal")));
  EXPECT_FALSE(std::filesystem::exists(Path("copy.db.partial")));
  struct stat file{};
  ASSERT_EQ(stat(Path("copy.db").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);

  const auto copy = Open({.path = Path("copy.db")});
  ASSERT_NE(copy, nullptr);
  EXPECT_GE(copy->Newest(), before);
  EXPECT_LE(copy->Newest(), after);
  EXPECT_TRUE(copy->FullCheck()->empty());
  const auto listing = copy->List({.kind = "pods"}).value();
  EXPECT_EQ(listing.objects.size(), 2000u);
  // The ten that the writer rewrites were all written by one commit.
  for (const auto& object : listing.objects) {
    const int number = std::stoi(object.key.name.substr(1));
    if (number < 10) {
      EXPECT_EQ(object.body->size(), copy->Get(Pod(0).key)->body->size());
    }
  }
}

TEST_F(SqliteStoreTest, ReadersAndWatchersBesideTheWriter) {
  Settings settings{.path = Path(), .keep_revisions = 50};
  settings.keep = base::Millis{0};
  settings.readers = 2;  // fewer than threads
  settings.feed = {.events = 16, .bytes = 1 << 20};
  const auto store = Open(settings);
  Fill(*store, 10);
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (!stop) {
        // List, then watch from it: together they must give every later state, without a gap.
        const auto listing = store->List({.kind = "pods"});
        ASSERT_TRUE(listing);
        Revision last = listing->revision;
        int changes = 0;
        const auto on_events = [&](const std::vector<port::Event>& events, Revision newest) {
          for (const port::Event& event : events) {
            ASSERT_EQ(event.object.revision, last + 1);
            last = event.object.revision;
            ++changes;
          }
          ASSERT_EQ(last, newest);
        };
        const auto watch = store->Follow("pods", listing->revision, on_events);
        if (!watch) {
          ASSERT_EQ(watch.error().kind, Kind::kExpired);  // compaction was faster
          continue;
        }
        ASSERT_TRUE(store->Get(Pod(1).key));
        ASSERT_TRUE(store->Due({0}, base::kNever, 1));
      }
    });
  }
  threads.emplace_back([&] {
    for (int i = 0; !stop; ++i) ASSERT_TRUE(store->Maintain(Instant{i}));
  });
  for (int i = 0; i < 200; ++i) Fill(*store, 10);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store->Newest(), 2010);
  EXPECT_TRUE(store->FullCheck()->empty());
}

TEST_F(SqliteStoreTest, AWatchThatFellFarBehindCatchesUpFromTheFile) {
  Settings settings{.path = Path()};
  settings.feed = {.events = 4, .bytes = 1 << 20};
  const auto store = Open(settings);
  for (int i = 0; i < 200; ++i) Fill(*store, 10, 50);
  Revision last = 0;
  int calls = 0;
  const auto watch =
      store->Follow("pods", 0, [&](const std::vector<port::Event>& events, Revision) {
        for (const port::Event& event : events) ASSERT_EQ(event.object.revision, ++last);
        ++calls;
      });
  ASSERT_TRUE(watch);
  EXPECT_EQ(last, 2000);
  EXPECT_GT(calls, 2) << "in bounded portions";
  Fill(*store, 1);
  EXPECT_EQ(last, 2001);
}

TEST_F(SqliteStoreTest, SaysWhatIsFree) {
  const auto free = Open()->FreeBytes();
  ASSERT_TRUE(free);
  EXPECT_GT(free->value, 0);
}

TEST_F(SqliteStoreTest, AnEmptyBatchTakesNoRevision) {
  const auto store = Open();
  EXPECT_EQ(store->Commit({}).value(), 1);
  EXPECT_EQ(store->Commit({.records = {{"ledger", "x"}}}).value(), 1);
  EXPECT_EQ(store->Newest(), 0);
  EXPECT_EQ(store->Records("ledger", 0, 9)->size(), 1u);
}

}  // namespace
}  // namespace pondage::store

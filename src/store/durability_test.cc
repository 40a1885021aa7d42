// What a disk and a crash can do: nothing that was committed is lost, nothing half-written is seen.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <tuple>

#include "base/random.h"
#include "base/test_directory.h"
#include "port/memory_store.h"
#include "store/faulty_disk.h"
#include "store/sqlite_store.h"

namespace pondage::store {
namespace {

using base::Instant;
using base::Random;
using port::Batch;
using port::Revision;

Settings SettingsOf(const std::string& path, const char* vfs = "") {
  Settings settings{.path = path, .keep_revisions = 20, .vfs = vfs};
  settings.keep = base::Millis{0};
  settings.log_pages = 30;
  return settings;
}

std::unique_ptr<SqliteStore> MustOpen(const Settings& settings) {
  auto opened = SqliteStore::Open(settings);
  EXPECT_TRUE(opened) << opened.error().message;
  return opened ? *std::move(opened) : nullptr;
}

// The batch that starts at a revision is a function of that revision: a store that holds N
// revisions must hold exactly what the first batches up to N say.
Batch BatchAt(Revision first) {
  Random random(static_cast<std::uint64_t>(first));
  Batch batch;
  const auto count = static_cast<Revision>(1 + random.Below(4));
  for (Revision revision = first; revision < first + count; ++revision) {
    batch.changes.push_back(
        {.key = {"pods", "ml", "p" + std::to_string(random.Below(40))},
         .uid = std::to_string(revision),
         .body = std::string(random.OneIn(6) ? random.Below(30'000) : random.Below(2'000), 'x'),
         .facets = "o:" + std::to_string(random.Below(5)) + "\n"});
    batch.records.push_back({"ledger", std::to_string(revision)});
  }
  return batch;
}

std::string Everything(const port::Store& store) {
  const auto listing = store.List({.kind = "pods"});
  if (!listing) return listing.error().message;
  std::string text = std::to_string(listing->revision) + "\n";
  for (const port::Object& object : listing->objects) {
    text += object.key.name + " " + object.uid + " " + std::to_string(object.revision) + " " +
            std::to_string(object.created) + " " + std::to_string(object.body->size()) + " " +
            *object.facets;
  }
  const auto lines = store.Records("ledger", 0, 1'000'000);
  if (!lines) return lines.error().message;
  for (const std::string& line : *lines) text += line + " ";
  return text;
}

std::string EverythingAt(Revision newest) {
  port::MemoryStore model;
  while (model.Newest() < newest) EXPECT_TRUE(model.Commit(BatchAt(model.Newest() + 1)));
  EXPECT_EQ(model.Newest(), newest) << "not the end of a batch";
  return Everything(model);
}

void ExpectSound(const SqliteStore& store) {
  EXPECT_EQ(Everything(store), EverythingAt(store.Newest()));
  const auto problems = store.FullCheck();
  ASSERT_TRUE(problems);
  EXPECT_TRUE(problems->empty()) << problems->front();
}

void ExpectRefusesThenRecovers(FaultyDisk::Weather weather) {
  const base::TestDirectory directory;
  FaultyDisk disk(1);
  const Settings settings = SettingsOf(directory.path() + "/store.db", disk.vfs());
  auto store = MustOpen(settings);
  ASSERT_TRUE(store->Commit(BatchAt(1)));
  const Revision before = store->Newest();
  disk.Set(weather);
  for (int i = 0; i < 3; ++i) {
    const auto refused = store->Commit(BatchAt(before + 1));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, base::Kind::kUnavailable);
    EXPECT_EQ(refused.error().id, "PND-S004");
    EXPECT_EQ(store->Newest(), before);
    EXPECT_EQ(Everything(*store), EverythingAt(before));  // readers go on
  }
  disk.Set(FaultyDisk::Weather::kFair);
  EXPECT_EQ(store->Commit(BatchAt(before + 1)).value(), before + 1);
  ExpectSound(*store);
  store.reset();
  ExpectSound(*MustOpen(settings));
}

TEST(Durability, AFullDiskRefusesCommitsUntilThereIsSpace) {
  ExpectRefusesThenRecovers(FaultyDisk::Weather::kFull);
}

TEST(Durability, AFailingSyncRefusesCommitsUntilItWorks) {
  ExpectRefusesThenRecovers(FaultyDisk::Weather::kNoSync);
}

TEST(Durability, FailuresAtAnyMomentLeaveTheStoreAsBefore) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const base::TestDirectory directory;
    FaultyDisk disk(seed);
    const Settings settings = SettingsOf(directory.path() + "/store.db", disk.vfs());
    auto store = MustOpen(settings);
    disk.Set(FaultyDisk::Weather::kRough);
    int failed = 0;
    for (int i = 0; i < 150; ++i) {
      const Revision newest = store->Newest();
      const auto first = store->Commit(BatchAt(newest + 1));
      failed += first ? 0 : 1;
      EXPECT_EQ(store->Newest() == newest, !first);
      if (i % 5 == 0) std::ignore = store->Maintain(Instant{i});
      ASSERT_EQ(Everything(*store), EverythingAt(store->Newest()));
    }
    EXPECT_GT(failed, 5);
    EXPECT_GT(store->Oldest(), 0);  // compaction got through in between
    disk.Set(FaultyDisk::Weather::kFair);
    ExpectSound(*store);
    store.reset();
    ExpectSound(*MustOpen(settings));
  }
}

// Power is lost at every kind of moment: inside a commit, a checkpoint, a compaction.
TEST(Durability, AfterAPowerLossExactlyTheCommittedPrefixIsThere) {
  int cuts = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const base::TestDirectory directory;
    const base::TestDirectory image;
    FaultyDisk disk(seed);
    Random random(seed);
    const int steps = seed % 4 == 0 ? 30 : 400;  // some while the file is being made
    disk.LosePowerAfter(static_cast<int>(random.Below(static_cast<std::uint64_t>(steps))),
                        image.path());
    auto store = MustOpen(SettingsOf(directory.path() + "/store.db", disk.vfs()));
    ASSERT_NE(store, nullptr);
    Revision acknowledged = 0;
    Revision asked = 0;
    for (int i = 0; i < 60 && !disk.PowerLost(); ++i) {
      const Batch batch = BatchAt(acknowledged + 1);
      asked = acknowledged + static_cast<Revision>(batch.changes.size());
      ASSERT_TRUE(store->Commit(batch));
      if (!disk.PowerLost()) acknowledged = asked;
      if (i % 7 == 3 && !disk.PowerLost()) {
        ASSERT_TRUE(store->Maintain(Instant{i}));
      }
    }
    if (!disk.PowerLost()) continue;
    ++cuts;
    const auto after = MustOpen(SettingsOf(image.path() + "/store.db"));
    ASSERT_NE(after, nullptr);
    EXPECT_TRUE(after->Newest() == acknowledged || after->Newest() == asked)
        << after->Newest() << " is neither " << acknowledged << " nor " << asked;
    ExpectSound(*after);
  }
  EXPECT_GT(cuts, 60);
}

// A child commits and tells each revision through a pipe, until it is killed.
Revision CommitUntilKilled(const Settings& settings, useconds_t after_us) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    auto store = SqliteStore::Open(settings);
    if (!store) _exit(1);
    for (int i = 0;; ++i) {
      const Revision first = (*store)->Newest() + 1;
      if (!(*store)->Commit(BatchAt(first))) _exit(2);
      const Revision newest = (*store)->Newest();
      if (write(ends[1], &newest, sizeof newest) != sizeof newest) _exit(3);
      if (i % 10 == 9 && !(*store)->Maintain(Instant{i})) _exit(4);
    }
  }
  close(ends[1]);
  Revision told = 0;
  Revision newest = 0;
  // Not before its first commit: what is tested is a crash at work, at no special moment.
  while (told == 0 && read(ends[0], &told, sizeof told) == sizeof told) {
  }
  usleep(after_us);
  kill(child, SIGKILL);
  while (read(ends[0], &newest, sizeof newest) == sizeof newest) told = newest;
  close(ends[0]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the child gave up by itself: " << WEXITSTATUS(status);
  return told;
}

TEST(Durability, KilledAtRandomMoments) {
  const base::TestDirectory directory;
  const Settings settings = SettingsOf(directory.path() + "/store.db");
  Random random(20);
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const Revision told =
        CommitUntilKilled(settings, static_cast<useconds_t>(random.Below(30'000)));
    EXPECT_GT(told, 0);
    const auto store = MustOpen(settings);
    ASSERT_NE(store, nullptr);
    EXPECT_GE(store->Newest(), told);
    ExpectSound(*store);
    EXPECT_TRUE(store->Maintain(Instant{0}));  // the look after an unclean end
    EXPECT_TRUE(store->Damage().empty());
  }
}

}  // namespace
}  // namespace pondage::store

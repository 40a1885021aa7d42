// Flips bytes everywhere in the file: each answer must be the truth or an error, never anything
// else.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/random.h"
#include "base/test_directory.h"
#include "store/faulty_disk.h"
#include "store/page_guard.h"
#include "store/sqlite_store.h"

namespace pondage::store {
namespace {

using base::Kind;

std::string BytesOf(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

void Put(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

void Fill(SqliteStore& store) {
  for (int i = 0; i < 60; ++i) {
    port::Batch batch;
    for (int j = 0; j < 3; ++j) {
      const std::string text = std::to_string(3 * i + j);
      batch.changes.push_back({.key = {"pods", "ml", "p" + std::to_string((3 * i + j) % 100)},
                               .uid = text,
                               .body = text + std::string(i % 9 == 0 ? 9000 : 300, 'b'),
                               .facets = "o:" + std::to_string(j) + "\n",
                               .live = true});
      batch.records.push_back({"ledger", text});
    }
    ASSERT_TRUE(store.Commit(batch));
  }
}

// Asks everything there is to ask: a text for each question, or "corrupt".
std::vector<std::string> Interrogate(SqliteStore& store) {
  std::vector<std::string> answers;
  const auto objects = [&](const auto& result, const auto& list) {
    if (!result) {
      EXPECT_EQ(result.error().kind, Kind::kCorrupt) << result.error().message;
      EXPECT_FALSE(result.error().object.empty());
      return answers.push_back("corrupt");
    }
    std::string text;
    for (const port::Object& object : list(*result)) {
      text += object.key.name + object.uid + *object.body + *object.facets + "\n";
    }
    answers.push_back(text);
  };
  const auto listed = [](const port::Listing& listing) { return listing.objects; };
  const auto alone = [](const port::Object& one) { return std::vector<port::Object>{one}; };
  objects(store.List({.kind = "pods"}), listed);
  objects(store.List({.kind = "pods", .at = 170}), listed);
  objects(store.List({.kind = "pods", .facet = "o:1"}), listed);
  const auto live = store.Live("pods");
  EXPECT_TRUE(live || live.error().kind == Kind::kCorrupt);
  answers.push_back(live ? "" : "corrupt");
  if (live)
    for (const port::Key& key : *live) answers.back() += key.name + ",";
  for (int i = 0; i < 100; ++i) {
    objects(store.Get({"pods", "ml", "p" + std::to_string(i)}), alone);
  }
  const auto lines = store.Records("ledger", 0, 1000);
  std::string text = lines ? "" : "corrupt";
  if (lines)
    for (const std::string& line : *lines) text += line + ",";
  answers.push_back(text);
  std::vector<port::Object> told;
  const auto watch =
      store.Follow("pods", 0, [&](const std::vector<port::Event>& events, port::Revision) {
        for (const port::Event& event : events) told.push_back(event.object);
      });
  objects(watch, [&](const auto&) { return told; });
  return answers;
}

TEST(Corruption, EveryAnswerIsTheTruthOrAnError) {
  const base::TestDirectory directory;
  const std::string path = directory.path() + "/store.db";
  std::vector<std::string> truth;
  {
    const auto store = SqliteStore::Open({.path = path}).value();
    Fill(*store);
    truth = Interrogate(*store);
  }
  const std::string sound = BytesOf(path);
  ASSERT_GT(sound.size(), 50u * kPageSize);
  const FaultyDisk disk(1);  // it does not wait for a real one
  base::Random random(11);
  int refused = 0;
  int detected = 0;
  for (int i = 0; i < 250; ++i) {
    // Half of them where structure lies densest: the beginnings and ends of pages.
    std::size_t at = random.Below(sound.size());
    if (i % 2 == 0) at = at / kPageSize * kPageSize + random.Below(16);
    std::string damaged = sound;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random.Below(8)));
    Put(path, damaged);
    SCOPED_TRACE("byte " + std::to_string(at));
    auto store = SqliteStore::Open({.path = path, .vfs = disk.vfs()});
    if (!store) {
      EXPECT_EQ(store.error().kind, Kind::kCorrupt) << store.error().message;
      ++refused;
      continue;
    }
    const auto answers = Interrogate(**store);
    ASSERT_EQ(answers.size(), truth.size());
    for (std::size_t question = 0; question < truth.size(); ++question) {
      if (answers[question] == "corrupt") continue;
      ASSERT_EQ(answers[question], truth[question]) << "question " << question;
    }
    // The file has no free pages, so the doctor must find each flip.
    const auto problems = (*store)->FullCheck();
    ASSERT_TRUE(problems) << problems.error().message;
    EXPECT_FALSE(problems->empty());
    detected += problems->empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(detected, 200);
}

// Without the page's sum: what the row's own finds when wrong bytes come from elsewhere.
TEST(Corruption, ARowThatWasChangedIsNamed) {
  const base::TestDirectory directory;
  const std::string path = directory.path() + "/store.db";
  {
    const auto store = SqliteStore::Open({.path = path}).value();
    Fill(*store);
  }
  {
    const auto vfs = GuardedVfs("").value();
    const auto database = Database::Open({.path = path, .vfs = vfs}).value();
    ASSERT_TRUE(database->Run("UPDATE log SET uid = 'x' WHERE name = 'p7'"));
  }
  const auto store = SqliteStore::Open({.path = path}).value();
  const auto got = store->Get({"pods", "ml", "p7"});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, Kind::kCorrupt);
  EXPECT_EQ(got.error().object, "pods/ml/p7");
  EXPECT_TRUE(store->Get({"pods", "ml", "p8"}));
  EXPECT_EQ(store->List({.kind = "pods"}).error().object, "pods/ml/p7");
  EXPECT_EQ(store->FullCheck()->size(), 2u);  // both versions of p7
}

TEST(Corruption, TablesThatDisagreeAreFound) {
  const char* const kDamages[] = {
      "DELETE FROM head WHERE name = 'p7'",
      "UPDATE head SET revision = revision - 1 WHERE name = 'p7'",
      "DELETE FROM facet WHERE name = 'p7'",
      "INSERT INTO facet VALUES (1, 'o:x', 'ml', 'gone')",
      "DELETE FROM record WHERE number = 5",
      "UPDATE record SET bytes = 'x' WHERE number = 5",
      "DELETE FROM kind",
  };
  for (const char* damage : kDamages) {
    const base::TestDirectory directory;
    const std::string path = directory.path() + "/store.db";
    {
      const auto store = SqliteStore::Open({.path = path}).value();
      Fill(*store);
      EXPECT_TRUE(store->FullCheck()->empty());
    }
    {
      const auto vfs = GuardedVfs("").value();
      const auto database = Database::Open({.path = path, .vfs = vfs}).value();
      ASSERT_TRUE(database->Run(damage)) << damage;
    }
    EXPECT_FALSE(SqliteStore::Open({.path = path}).value()->FullCheck()->empty()) << damage;
  }
}

}  // namespace
}  // namespace pondage::store

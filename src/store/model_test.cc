// The store on disk against the model in memory: the same operations must get the same answers,
// across reopening, compaction and paging. The seed is printed when they differ.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>

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
using port::Change;
using port::Event;
using port::Object;
using port::Revision;

std::string Describe(const Object& object) {
  return object.key.kind + "|" + object.key.space + "|" + object.key.name + "|" + object.uid + "|" +
         std::to_string(object.revision) + "|" + std::to_string(object.created) + "|" +
         *object.body + "|" + std::to_string(object.splice) + "|" + *object.facets;
}

std::string Describe(const Event& event) {
  return std::to_string(static_cast<int>(event.type)) + Describe(event.object) +
         "|before:" + (event.previous_facets ? *event.previous_facets : "none");
}

std::string Describe(const port::Listing& listing) {
  std::string text = std::to_string(listing.revision) + (listing.more ? " more " : " end ") +
                     std::to_string(listing.remaining) + "\n";
  for (const Object& object : listing.objects) text += Describe(object) + "\n";
  return text;
}

std::string Describe(const std::vector<port::Key>& keys) {
  std::string text;
  for (const port::Key& key : keys) text += key.kind + "|" + key.space + "|" + key.name + "\n";
  return text;
}

std::string Describe(const std::vector<port::DueKey>& due) {
  std::string text;
  for (const auto& [at, key] : due) text += std::to_string(at.unix_ms) + Describe(std::vector{key});
  return text;
}

std::string Describe(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::string Describe(Revision revision) {
  return std::to_string(revision);
}

template <class T>
std::string Answer(const base::Result<T>& result) {
  if (!result) return "error " + std::to_string(static_cast<int>(result.error().kind));
  return Describe(*result);
}

struct Seen {
  std::string events;
  std::unique_ptr<port::Watch> watch;
};

class Twins {
 public:
  explicit Twins(std::uint64_t seed) : random_(seed) { Reopen(); }

  void Step() {
    switch (random_.Below(16)) {
      case 0:
        return List();
      case 1:
        return Page();
      case 2:
        return Get();
      case 3:
        return Queues();
      case 4:
        return Follow();
      case 5:
        return random_.OneIn(20) ? Reopen() : List();
      case 6:
        return random_.OneIn(10) ? Compact() : Get();
      default:
        return Commit();
    }
  }

  int expired() const { return expired_; }
  int compacted() const { return compacted_; }

  void Finish() {
    Reopen();
    List();
    EXPECT_EQ(Describe(real_->FullCheck().value()), "");
  }

 private:
  std::string Kind() { return random_.OneIn(3) ? "nodes" : "pods"; }
  std::string Space() { return std::string(1, static_cast<char>('a' + random_.Below(3))); }
  std::string Name() { return "n" + std::to_string(random_.Below(12)); }
  std::string Facet() {
    static constexpr const char* kPrefixes[] = {
        "o:", "l:x=", "f:p=", "l:training.kubeflow.org/job-name="};
    return kPrefixes[random_.Below(4)] + std::to_string(random_.Below(3));
  }

  Change RandomChange() {
    std::set<std::string> lines;
    for (std::uint64_t i = random_.Below(4); i > 0; --i) lines.insert(Facet());
    Change change{.key = {Kind(), Space(), Name()},
                  .deleted = random_.OneIn(4),
                  .uid = "u" + std::to_string(random_.Below(5)),
                  .body = std::string(random_.OneIn(9) ? random_.Below(20'000) : random_.Below(60),
                                      static_cast<char>(random_.Below(256)))};
    change.splice = static_cast<std::uint32_t>(random_.Below(change.body.size() + 1));
    lines.insert("f:metadata.name=" + change.key.name);  // as every object of the API has it
    for (const std::string& line : lines) change.facets += line + "\n";
    change.live = random_.OneIn(3);
    if (random_.OneIn(3)) change.due = Instant{random_.Between(-3, 30)};
    return change;
  }

  void Commit() {
    Batch batch;
    for (std::uint64_t i = random_.Below(4); i > 0; --i) batch.changes.push_back(RandomChange());
    for (std::uint64_t i = random_.Below(3); i > 0; --i) {
      batch.records.push_back({Space(), std::to_string(random_.Next())});
    }
    EXPECT_EQ(Answer(real_->Commit(batch)), Answer(model_.Commit(batch)));
    EXPECT_EQ(real_->Newest(), model_.Newest());
    ASSERT_EQ(seen_real_.size(), seen_model_.size());
    for (std::size_t i = 0; i < seen_real_.size(); ++i) {
      EXPECT_EQ(seen_real_[i]->events, seen_model_[i]->events);
    }
  }

  // Mostly of the present, some of the past, some that cannot be had.
  Revision SomeRevision() {
    if (random_.OneIn(2)) return 0;
    return random_.Between(std::max<Revision>(model_.Oldest() - 3, 1), model_.Newest() + 2);
  }

  void Compare(const port::ListQuery& query) {
    const auto expected = model_.List(query);
    expired_ += expected ? 0 : 1;
    EXPECT_EQ(Answer(real_->List(query)), Answer(expected))
        << query.kind << " in '" << query.space << "' after " << query.after_space << "/"
        << query.after_name << " limit " << query.limit << " at " << query.at << " facet "
        << query.facet;
  }

  void List() {
    port::ListQuery query{.kind = Kind(), .at = SomeRevision(), .count = random_.Below(2) == 0};
    if (random_.OneIn(2)) query.space = Space();
    if (random_.OneIn(2)) query.limit = random_.Below(8);
    if (random_.OneIn(3)) query.facet = random_.OneIn(2) ? Facet() : "f:metadata.name=" + Name();
    if (random_.OneIn(3)) {
      query.after_space = Space();
      query.after_name = Name();
    }
    Compare(query);
  }

  // A client that reads in pages while the store goes on.
  void Page() {
    port::ListQuery query{
        .kind = Kind(), .limit = 1 + random_.Below(9), .count = random_.Below(2) == 0};
    if (random_.OneIn(3)) query.facet = Facet();
    for (;;) {
      const auto page = model_.List(query);
      Compare(query);
      if (!page || !page->more) return;
      query.at = page->revision;
      query.after_space = page->objects.back().key.space;
      query.after_name = page->objects.back().key.name;
      Commit();
    }
  }

  void Get() {
    const port::Key key{Kind(), Space(), Name()};
    EXPECT_EQ(Answer(real_->Get(key)), Answer(model_.Get(key)));
  }

  void Queues() {
    const std::string kind = Kind();
    EXPECT_EQ(Answer(real_->Live(kind)), Answer(model_.Live(kind)));
    const Instant now{random_.Between(-4, 31)};
    const std::size_t limit = 1 + random_.Below(9);
    const Instant from{random_.Between(-4, 31)};
    EXPECT_EQ(Answer(real_->Due(from, now, limit)), Answer(model_.Due(from, now, limit)));
    EXPECT_EQ(real_->CountDue(from, now).value(), model_.CountDue(from, now).value());
    const std::string stream = Space();
    const std::size_t skip = random_.Below(30);
    EXPECT_EQ(Answer(real_->Records(stream, skip, limit)),
              Answer(model_.Records(stream, skip, limit)));
  }

  static std::unique_ptr<Seen> Start(port::Store& store, const std::string& kind, Revision from) {
    auto seen = std::make_unique<Seen>();
    auto watch =
        store.Follow(kind, from, [into = seen.get()](const std::vector<Event>& events, Revision) {
          for (const Event& event : events) into->events += Describe(event) + "\n";
        });
    if (!watch) {
      seen->events = "error " + std::to_string(static_cast<int>(watch.error().kind));
    } else {
      seen->watch = *std::move(watch);
    }
    return seen;
  }

  void Follow() {
    if (seen_real_.size() > 5 || random_.OneIn(3)) {
      seen_real_.clear();
      seen_model_.clear();
    }
    const std::string kind = Kind();
    const Revision from = SomeRevision();
    seen_real_.push_back(Start(*real_, kind, from));
    seen_model_.push_back(Start(model_, kind, from));
    EXPECT_EQ(seen_real_.back()->events, seen_model_.back()->events) << "from " << from;
  }

  void Compact() {
    if (model_.Newest() < 30) return;
    now_ = now_ + base::Millis{1000};
    ASSERT_TRUE(real_->Maintain(now_));
    now_ = now_ + base::Millis{1000};
    for (;;) {
      const auto more = real_->Maintain(now_);
      ASSERT_TRUE(more);
      if (!*more) break;
    }
    compacted_ += real_->Oldest() > model_.Oldest() ? 1 : 0;
    model_.CompactTo(real_->Oldest());
  }

  void Reopen() {
    seen_real_.clear();
    seen_model_.clear();
    real_.reset();
    Settings settings{.path = directory_.path() + "/store.db", .keep_revisions = 20};
    settings.keep = base::Millis{1000};
    settings.feed = {.events = 6, .bytes = 30'000};
    settings.log_pages = 20;
    settings.vfs = disk_.vfs();
    auto opened = SqliteStore::Open(settings);
    ASSERT_TRUE(opened) << opened.error().message;
    real_ = *std::move(opened);
    EXPECT_EQ(real_->Newest(), model_.Newest());
    EXPECT_EQ(real_->Oldest(), model_.Oldest());
  }

  Random random_;
  base::TestDirectory directory_;
  FaultyDisk disk_{1};  // fair weather: it only spares the wait for a real one
  port::MemoryStore model_;
  std::unique_ptr<SqliteStore> real_;
  Instant now_{0};
  int expired_ = 0;
  int compacted_ = 0;
  std::vector<std::unique_ptr<Seen>> seen_real_;
  std::vector<std::unique_ptr<Seen>> seen_model_;
};

TEST(SqliteStoreModel, SameAnswersAsTheModel) {
  const char* wanted = std::getenv("PONDAGE_SEED");
  const std::uint64_t first = wanted == nullptr ? 1 : std::strtoull(wanted, nullptr, 10);
  const std::uint64_t last = wanted == nullptr ? 20 : first;
  int expired = 0;
  int compacted = 0;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    SCOPED_TRACE("PONDAGE_SEED=" + std::to_string(seed));
    Twins twins(seed);
    for (int step = 0; step < 2000 && !testing::Test::HasFailure(); ++step) twins.Step();
    if (testing::Test::HasFailure()) return;
    twins.Finish();
    expired += twins.expired();
    compacted += twins.compacted();
  }
  if (wanted == nullptr) {  // the rare branches were reached
    EXPECT_GT(expired, 100);
    EXPECT_GT(compacted, 20);
  }
}

}  // namespace
}  // namespace pondage::store

// The store beside bare SQLite, in one run: what a commit, a list, a get and an opening cost.
//
//   store_bench [--benchmark_filter=...]; needs a few hundred MB in the temporary directory.

#include <benchmark/benchmark.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/test_directory.h"
#include "store/sqlite_store.h"

namespace pondage::store {
namespace {

constexpr std::size_t kBody = 3000;

port::Change Pod(std::int64_t number, bool live = false) {
  const std::string text = std::to_string(number);
  return {.key = {"pods", "ml", "job-" + text + "-worker-0"},
          .uid = "00000000-0000-0000-0000-" + text,
          .body = std::string(kBody, 'b'),
          .splice = 12,
          .facets = "l:app=x\nl:training.kubeflow.org/job-name=job-" + text + "\no:" + text + "\n",
          .live = live};
}

void Fill(SqliteStore& store, std::int64_t count) {
  for (std::int64_t i = 0; i < count;) {
    port::Batch batch;
    for (int j = 0; j < 1000 && i < count; ++j) batch.changes.push_back(Pod(i++));
    if (!store.Commit(batch)) std::abort();
  }
}

std::unique_ptr<SqliteStore> Open(const base::TestDirectory& directory) {
  return SqliteStore::Open({.path = directory.path() + "/store.db"}).value();
}

std::int64_t ResidentKib() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  statm >> total >> resident;
  return resident * 4;
}

void Commit(benchmark::State& state) {
  const base::TestDirectory directory;
  const auto store = Open(directory);
  Fill(*store, 1000);
  std::int64_t next = 0;
  for (auto _ : state) {
    port::Batch batch;
    for (std::int64_t i = 0; i < state.range(0); ++i) batch.changes.push_back(Pod(next++ % 1000));
    if (!store->Commit(batch)) state.SkipWithError("commit failed");
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(Commit)->Arg(1)->Arg(10)->Arg(100)->Unit(benchmark::kMicrosecond)->UseRealTime();

// The floor: the same bytes into one table of SQLite, with the same durability.
void BareCommit(benchmark::State& state) {
  const base::TestDirectory directory;
  sqlite3* database = nullptr;
  sqlite3_open((directory.path() + "/bare.db").c_str(), &database);
  sqlite3_exec(database,
               "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
               "CREATE TABLE t(id INTEGER PRIMARY KEY, body BLOB)",
               nullptr, nullptr, nullptr);
  sqlite3_stmt* insert = nullptr;
  sqlite3_prepare_v2(database, "INSERT INTO t(body) VALUES (?1)", -1, &insert, nullptr);
  const std::string body(kBody, 'b');
  for (auto _ : state) {
    sqlite3_exec(database, "BEGIN", nullptr, nullptr, nullptr);
    for (std::int64_t i = 0; i < state.range(0); ++i) {
      sqlite3_bind_blob(insert, 1, body.data(), static_cast<int>(body.size()), SQLITE_STATIC);
      sqlite3_step(insert);
      sqlite3_reset(insert);
    }
    sqlite3_exec(database, "COMMIT", nullptr, nullptr, nullptr);
  }
  sqlite3_finalize(insert);
  sqlite3_close(database);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BareCommit)->Arg(1)->Arg(10)->Arg(100)->Unit(benchmark::kMicrosecond)->UseRealTime();

class Filled : public benchmark::Fixture {
 public:
  void SetUp(const benchmark::State& state) override {
    directory_ = std::make_unique<base::TestDirectory>();
    store_ = Open(*directory_);
    Fill(*store_, state.range(0));
  }
  void TearDown(const benchmark::State&) override {
    store_.reset();
    directory_.reset();
  }
  std::unique_ptr<base::TestDirectory> directory_;
  std::unique_ptr<SqliteStore> store_;
};

BENCHMARK_DEFINE_F(Filled, List)(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(store_->List({.kind = "pods"}).value());
  state.SetBytesProcessed(state.iterations() * state.range(0) * static_cast<std::int64_t>(kBody));
}
BENCHMARK_REGISTER_F(Filled, List)->Arg(10'000)->Unit(benchmark::kMillisecond);

BENCHMARK_DEFINE_F(Filled, ListPage)(benchmark::State& state) {
  const port::ListQuery query{.kind = "pods", .limit = 500};
  for (auto _ : state) benchmark::DoNotOptimize(store_->List(query).value());
}
BENCHMARK_REGISTER_F(Filled, ListPage)->Arg(100'000)->Unit(benchmark::kMillisecond);

BENCHMARK_DEFINE_F(Filled, ListOldPage)(benchmark::State& state) {
  const port::ListQuery query{.kind = "pods", .limit = 500, .at = store_->Newest() - 1};
  for (auto _ : state) benchmark::DoNotOptimize(store_->List(query).value());
}
BENCHMARK_REGISTER_F(Filled, ListOldPage)->Arg(100'000)->Unit(benchmark::kMillisecond);

BENCHMARK_DEFINE_F(Filled, ListByJob)(benchmark::State& state) {
  port::ListQuery query{.kind = "pods"};
  query.facet = "l:training.kubeflow.org/job-name=job-5000";
  for (auto _ : state) benchmark::DoNotOptimize(store_->List(query).value());
}
BENCHMARK_REGISTER_F(Filled, ListByJob)->Arg(10'000)->Unit(benchmark::kMicrosecond);

BENCHMARK_DEFINE_F(Filled, Get)(benchmark::State& state) {
  const port::Key key = Pod(4711).key;
  for (auto _ : state) benchmark::DoNotOptimize(store_->Get(key).value());
}
BENCHMARK_REGISTER_F(Filled, Get)->Arg(10'000)->Unit(benchmark::kMicrosecond);

BENCHMARK_DEFINE_F(Filled, OpenAndReadWhatIsLive)(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    store_.reset();
    state.ResumeTiming();
    store_ = Open(*directory_);
    benchmark::DoNotOptimize(store_->Live("pods").value());
    benchmark::DoNotOptimize(store_->Due({0}, base::kNever, 1).value());
  }
  state.counters["resident_kib"] = static_cast<double>(ResidentKib());
}
BENCHMARK_REGISTER_F(Filled, OpenAndReadWhatIsLive)
    ->Arg(0)
    ->Arg(100'000)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace pondage::store

BENCHMARK_MAIN();

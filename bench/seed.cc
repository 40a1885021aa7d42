// Fills a store with finished jobs: clones of one that really ran, so that they are what the server
// writes, field for field.
//
//   seed STORE COUNT      the server must not be running; the store holds one finished TFJob
//
// A clone is the job, its Pods and its Services with another name and other uids of the same
// length.

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "store/sqlite_store.h"

namespace pondage::bench {
namespace {

constexpr const char* kJobs = "tfjobs.kubeflow.org";
constexpr std::int64_t kJobsOfACommit = 500;

template <typename T>
T Must(base::Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "seed: {}\n", result.error().message);
  std::exit(1);
}

struct Rename {
  std::string from, to;
};

std::string Renamed(std::string text, const std::vector<Rename>& renames) {
  for (const Rename& rename : renames) {
    for (std::size_t at = text.find(rename.from); at != std::string::npos;
         at = text.find(rename.from, at + rename.to.size())) {
      text.replace(at, rename.from.size(), rename.to);
    }
  }
  return text;
}

// The job and what it owns.
std::vector<port::Object> Family(const store::SqliteStore& store) {
  auto jobs = Must(store.List({.kind = kJobs})).objects;
  if (jobs.size() != 1) {
    fmt::print(stderr, "seed: the store holds {} TFJobs, one is wanted\n", jobs.size());
    std::exit(1);
  }
  std::vector<port::Object> family{jobs.front()};
  for (const char* kind : {"pods", "services"}) {
    port::ListQuery query{.kind = kind};
    query.facet = "o:" + jobs.front().uid;
    for (port::Object& object : Must(store.List(query)).objects) family.push_back(object);
  }
  return family;
}

// The clone's own first eight digits of each uid, and its name.
std::vector<Rename> RenamesOf(const std::vector<port::Object>& family, std::int64_t number) {
  const std::string& name = family.front().key.name;
  const std::string digits = fmt::format("{:08}", number);
  std::vector<Rename> renames{{name, name.substr(0, name.size() - digits.size()) + digits}};
  for (const port::Object& object : family) {
    renames.push_back({object.uid, digits + object.uid.substr(digits.size())});
  }
  return renames;
}

int Seed(const std::string& path, std::int64_t count) {
  auto store = Must(store::SqliteStore::Open({.path = path}));
  const std::vector<port::Object> family = Family(*store);
  if (family.front().key.name.size() < 9) {
    fmt::print(stderr, "seed: the name of the job must have nine letters or more\n");
    return 1;
  }
  for (std::int64_t done = 0; done < count;) {
    port::Batch batch;
    for (std::int64_t i = 0; i < kJobsOfACommit && done < count; ++i, ++done) {
      const auto renames = RenamesOf(family, done + 1);
      for (const port::Object& object : family) {
        batch.changes.push_back(
            {.key = {object.key.kind, object.key.space, Renamed(object.key.name, renames)},
             .uid = Renamed(object.uid, renames),
             .body = Renamed(*object.body, renames),
             .splice = object.splice,
             .facets = Renamed(*object.facets, renames)});
      }
    }
    Must(store->Commit(batch));
  }
  // As time would: the history of the creations is forgotten.
  using std::chrono::system_clock;
  const auto now =
      std::chrono::duration_cast<std::chrono::milliseconds>(system_clock::now().time_since_epoch())
          .count();
  for (int minute = 0; minute < 20; ++minute) {
    while (Must(store->Maintain(base::Instant{now + minute * 60'000}))) {
    }
  }
  fmt::print("{} jobs, {} objects each, {} bytes of JSON in a job\n", count, family.size(),
             family.front().body->size());
  return 0;
}

}  // namespace
}  // namespace pondage::bench

int main(int argc, char** argv) {
  const std::int64_t count = argc == 3 ? std::atoll(argv[2]) : 0;
  if (count < 1 || count > 10'000'000) {
    fmt::print(stderr, "usage: seed STORE COUNT\n");
    return 2;
  }
  return pondage::bench::Seed(argv[1], count);
}

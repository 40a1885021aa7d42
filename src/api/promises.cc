#include "api/promises.h"

#include <fmt/format.h>

#include <map>

#include "manifest/queue.h"
#include "phrase/phrase.h"

namespace pondage::api {
namespace {

// Of machines that take no jobs at present, too: they come back.
base::MilliGpu GpusOfMachines(const port::Store& store) {
  base::MilliGpu all;
  const auto nodes = store.List({.kind = "nodes"});
  if (!nodes) return all;
  for (const port::Object& object : nodes->objects) {
    if (const auto node = manifest::DecodeNode(*object.body))
      all += base::WholeGpus(static_cast<std::int64_t>(node->gpus.size()));
  }
  return all;
}

std::string Gpus(base::MilliGpu gpus) {
  return fmt::format("{}", static_cast<double>(gpus.value) / 1000);
}

}  // namespace

std::vector<std::string> BrokenPromises(const port::Store& store,
                                        const std::optional<queue::Spec>& changed) {
  std::map<std::string, queue::Spec> queues;
  const auto listed = store.List({.kind = "queues.pondage.dev"});
  if (!listed) return {};
  for (const port::Object& object : listed->objects) {
    if (auto spec = manifest::DecodeQueue(*object.body)) queues[spec->name] = *std::move(spec);
  }
  if (changed) queues[changed->name] = *changed;
  const auto parent_of = [&queues](const queue::Spec& spec) {
    return queues.contains(spec.parent) ? spec.parent : std::string();
  };
  std::map<std::string, base::MilliGpu> promised;  // by parent; empty: to those at the top
  for (const auto& [name, spec] : queues) promised[parent_of(spec)] += spec.guarantee;
  const base::MilliGpu machines = GpusOfMachines(store);
  std::vector<std::string> broken;
  for (const auto& [parent, sum] : promised) {
    if (changed && parent != parent_of(*changed) && parent != changed->name) continue;
    const base::MilliGpu there = parent.empty() ? machines : queues[parent].guarantee;
    if (sum <= there || machines.value == 0) continue;
    broken.push_back(phrase::Text("PND-Q030", phrase::Language::kEnglish,
                                  {{"need", Gpus(sum)},
                                   {"have", Gpus(there)},
                                   {"where", parent},
                                   {"top", parent.empty() ? "1" : ""}}) +
                     " (PND-Q030)");
  }
  return broken;
}

}  // namespace pondage::api

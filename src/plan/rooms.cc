#include "plan/rooms.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace pondage::plan {
namespace {

Room RoomOf(const fleet::Place& place, View view) {
  Room room;
  room.place = &place;
  const bool as_it_is = view == View::kFree;
  room.cpu = as_it_is ? place.free_cpu.value : place.node.cpu.value;
  room.memory = as_it_is ? place.free_memory.value : place.node.memory.value;
  for (int i = 0; i < static_cast<int>(place.node.gpus.size()); ++i) {
    const bool usable = as_it_is || view == View::kEmptyAll
                            ? !as_it_is || place.IsFree(i)
                            : place.node.gpus[static_cast<std::size_t>(i)].healthy;
    if (usable) room.free.push_back(i);
  }
  return room;
}

// How many times `ask` goes into `free`, at most `at_most`. Nothing asked always fits, even where
// the machine came back smaller than what runs on it.
int Times(std::int64_t free, std::int64_t ask, int at_most) {
  if (ask == 0) return at_most;
  if (free < ask) return 0;
  return static_cast<int>(std::min<std::int64_t>(free / ask, at_most));
}

void Insert(std::vector<int>& sorted, int value) {
  sorted.insert(std::ranges::lower_bound(sorted, value), value);
}

}  // namespace

Rooms::Rooms(const fleet::Fleet& fleet, View view) {
  for (const auto& [name, place] : fleet.places()) {
    if (view == View::kEmptyAll || place.node.health == fleet::Health::kReady) {
      rooms_.push_back(RoomOf(place, view));
    }
  }
}

int Rooms::Capacity(std::size_t index, const fleet::Demand& demand, int at_most) const {
  const Room& room = rooms_[index];
  const fleet::Node& node = room.place->node;
  const bool asks_nothing = demand.gpus == 0 && demand.cpu.value == 0 && demand.memory.value == 0;
  if (room.closed && !asks_nothing) return 0;
  int fits = Times(room.cpu, demand.cpu.value, at_most);
  fits = Times(room.memory, demand.memory.value, fits);
  if (fits == 0) return 0;
  if (demand.gpus > 0) {
    auto free = static_cast<std::int64_t>(room.free.size());
    if (!demand.gpu_type.empty()) {
      free = std::ranges::count_if(room.free, [&](int gpu) {
        return fleet::IsOfType(node.gpus[static_cast<std::size_t>(gpu)], demand);
      });
    }
    fits = Times(free, demand.gpus, fits);
  }
  return fits > 0 && fleet::CarriesLabels(node, demand) ? fits : 0;
}

fleet::Grant Rooms::Take(std::size_t index, const fleet::Demand& demand) {
  Room& room = rooms_[index];
  fleet::Grant grant{room.place->node.name, {}, demand.cpu, demand.memory};
  std::vector<int> left;
  for (const int gpu : room.free) {
    const bool wanted =
        static_cast<int>(grant.gpus.size()) < demand.gpus &&
        fleet::IsOfType(room.place->node.gpus[static_cast<std::size_t>(gpu)], demand);
    (wanted ? grant.gpus : left).push_back(gpu);
  }
  PROMISE(static_cast<int>(grant.gpus.size()) == demand.gpus);
  room.free = std::move(left);
  room.cpu -= demand.cpu.value;
  room.memory -= demand.memory.value;
  return grant;
}

void Rooms::Give(std::size_t index, const fleet::Grant& grant) {
  Room& room = rooms_[index];
  for (const int gpu : grant.gpus) Insert(room.free, gpu);
  room.cpu += grant.cpu.value;
  room.memory += grant.memory.value;
}

void Rooms::Note(base::JobId job, const std::vector<fleet::Grant>& grants) {
  for (const fleet::Grant& grant : grants) {
    const auto room = std::ranges::lower_bound(
        rooms_, grant.node, {},
        [](const Room& r) -> const std::string& { return r.place->node.name; });
    REQUIRE(room != rooms_.end() && room->place->node.name == grant.node);
    room->started.emplace_back(job, grant);
  }
}

void Rooms::Keep(const fleet::Demand& demand, bool whole) {
  for (Room& room : rooms_) {
    const fleet::Node& node = room.place->node;
    if (!fleet::CouldFit(node, demand)) continue;
    if (whole) room.closed = true;
    if (demand.gpus == 0) continue;
    std::vector<int> left;
    for (const int gpu : room.free) {
      if (fleet::IsOfType(node.gpus[static_cast<std::size_t>(gpu)], demand)) {
        Insert(room.kept, gpu);
      } else {
        left.push_back(gpu);
      }
    }
    room.free = std::move(left);
  }
}

void Rooms::Open() {
  for (Room& room : rooms_) {
    for (const int gpu : room.kept) Insert(room.free, gpu);
    room.kept.clear();
    room.closed = false;
  }
}

}  // namespace pondage::plan

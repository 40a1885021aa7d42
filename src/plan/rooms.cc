#include "plan/rooms.h"

#include <algorithm>
#include <limits>
#include <map>
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

void InsertKept(std::vector<KeptGpu>& sorted, KeptGpu kept) {
  sorted.insert(std::ranges::lower_bound(sorted, kept.gpu, {}, &KeptGpu::gpu), kept);
}

// How much of `now` must be kept so that `ask` is there later, when `later` will be free.
std::int64_t Short(std::int64_t ask, std::int64_t later, std::int64_t now) {
  const std::int64_t comes = std::max<std::int64_t>(0, later - now);
  return std::max<std::int64_t>(0, ask - comes);
}

// Until nobody knows when: no gang ends before.
constexpr base::Instant kUnknown{std::numeric_limits<std::int64_t>::min()};

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

Room* Rooms::Find(const std::string& node) {
  return const_cast<Room*>(std::as_const(*this).Find(node));
}

const Room* Rooms::Find(const std::string& node) const {
  const auto room = std::ranges::lower_bound(
      rooms_, node, {}, [](const Room& r) -> const std::string& { return r.place->node.name; });
  return room == rooms_.end() || room->place->node.name != node ? nullptr : &*room;
}

void Rooms::TakeExactly(const fleet::Grant& grant) {
  Room* room = Find(grant.node);
  if (room == nullptr) return;
  std::erase_if(room->free, [&](int gpu) { return std::ranges::binary_search(grant.gpus, gpu); });
  room->cpu -= grant.cpu.value;
  room->memory -= grant.memory.value;
}

void Rooms::Free(const fleet::Grant& grant) {
  Room* room = Find(grant.node);
  if (room == nullptr) return;
  const std::vector<fleet::Gpu>& gpus = room->place->node.gpus;
  for (const int gpu : grant.gpus) {
    const auto at = static_cast<std::size_t>(gpu);
    if (at < gpus.size() && gpus[at].healthy && !gpus[at].foreign) Insert(room->free, gpu);
  }
  room->cpu += grant.cpu.value;
  room->memory += grant.memory.value;
}

void Rooms::Note(base::JobId job, const std::vector<fleet::Grant>& grants) {
  for (const fleet::Grant& grant : grants) {
    Room* room = Find(grant.node);
    REQUIRE(room != nullptr);
    room->started.emplace_back(job, grant);
  }
}

void Rooms::Keep(const fleet::Demand& demand, bool whole) {
  for (Room& room : rooms_) {
    const fleet::Node& node = room.place->node;
    if (!fleet::CouldFit(node, demand)) continue;
    if (whole) room.closed = true;
    if (demand.gpus == 0) continue;
    for (KeptGpu& kept : room.kept) {
      if (fleet::IsOfType(node.gpus[static_cast<std::size_t>(kept.gpu)], demand)) {
        kept.until = kUnknown;
      }
    }
    std::erase_if(room.free, [&](int gpu) {
      if (!fleet::IsOfType(node.gpus[static_cast<std::size_t>(gpu)], demand)) return false;
      InsertKept(room.kept, {gpu, kUnknown});
      return true;
    });
  }
}

bool Rooms::KeepUntil(base::Instant until, const std::vector<fleet::Grant>& grants,
                      const Rooms& then) {
  std::map<std::string, KeptAmount> asked;  // by machine
  for (const fleet::Grant& grant : grants) {
    Room* room = Find(grant.node);
    REQUIRE(room != nullptr);
    std::erase_if(room->free, [&](int gpu) {
      if (!std::ranges::binary_search(grant.gpus, gpu)) return false;
      InsertKept(room->kept, {gpu, until});
      return true;
    });
    asked[grant.node].cpu += grant.cpu.value;
    asked[grant.node].memory += grant.memory.value;
  }
  bool amounts = false;
  for (const auto& [node, ask] : asked) {
    Room* room = Find(node);
    const Room* later = then.Find(node);
    REQUIRE(later != nullptr);
    KeptAmount keep{Short(ask.cpu, later->cpu + ask.cpu, room->cpu),
                    Short(ask.memory, later->memory + ask.memory, room->memory), until};
    if (keep.cpu == 0 && keep.memory == 0) continue;
    amounts = true;
    room->cpu -= keep.cpu;
    room->memory -= keep.memory;
    room->kept_amounts.push_back(keep);
  }
  return amounts;
}

void Rooms::Lend(base::Instant ends_by) {
  for (Room& room : rooms_) {
    std::erase_if(room.kept, [&](const KeptGpu& kept) {
      if (kept.until < ends_by) return false;
      Insert(room.free, kept.gpu);
      room.lent.push_back(kept);
      return true;
    });
    std::erase_if(room.kept_amounts, [&](const KeptAmount& kept) {
      if (kept.until < ends_by) return false;
      room.cpu += kept.cpu;
      room.memory += kept.memory;
      room.lent_amounts.push_back(kept);
      return true;
    });
  }
}

void Rooms::Recall() {
  for (Room& room : rooms_) {
    for (const KeptGpu& lent : room.lent) {
      if (std::erase(room.free, lent.gpu) > 0) InsertKept(room.kept, lent);
    }
    for (const KeptAmount& lent : room.lent_amounts) {
      room.cpu -= lent.cpu;
      room.memory -= lent.memory;
      room.kept_amounts.push_back(lent);
    }
    room.lent.clear();
    room.lent_amounts.clear();
  }
}

void Rooms::Open() {
  for (Room& room : rooms_) {
    for (const KeptGpu& kept : room.kept) Insert(room.free, kept.gpu);
    for (const KeptAmount& kept : room.kept_amounts) {
      room.cpu += kept.cpu;
      room.memory += kept.memory;
    }
    room.kept.clear();
    room.kept_amounts.clear();
    room.closed = false;
  }
}

}  // namespace pondage::plan

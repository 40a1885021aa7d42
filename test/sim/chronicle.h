// What a world must never do over time, however each of its moments looks: laws between steps.
//
// Sees the world after every turn. One thread.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/world.h"

namespace pondage::sim {

class Chronicle {
 public:
  // Broken laws, each a sentence:
  //   - a job's attempt, restarts and disruptions never fall, nor a replica's incarnation;
  //   - what ended ended once: the terminal condition and completionTime stay;
  //   - an index that finished in replica scope never runs again (O11);
  //   - no two programs of one name run, and each is that of the Pod stored under its name.
  std::vector<std::string> See(const World& world);

  // L12: at no instant more is charged than the one machine has. Not where clocks were set.
  static std::vector<std::string> Capacity(const World& world, std::int64_t milli_gpus);

 private:
  struct Known {
    int attempt = 0, restarts = 0, disruptions = 0;
    std::string end;  // type and completion time; empty: it goes on
    std::map<std::pair<base::Role, int>, int> incarnations;
    std::set<std::pair<base::Role, int>> finished;
  };

  void SeeJob(const pool::JobView& job, std::vector<std::string>& broken);
  static void SeePrograms(const World& world, std::vector<std::string>& broken);

  std::map<std::string, Known> known_;  // by uid
};

}  // namespace pondage::sim

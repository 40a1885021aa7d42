// What the loop counts for Prometheus: transitions of jobs, charged time, what is free and waits.
//
// On the loop's thread, after a commit: what was not committed is not counted. The page may be read
// from any thread.
#pragma once

#include <string>
#include <vector>

#include "metrics/page.h"
#include "pool/pool.h"

namespace pondage::loop {

class Numbers {
 public:
  explicit Numbers(metrics::Page& page) : page_(page) {}

  void CountCreated(const std::string& space);
  void CountDeleted(const std::string& space);
  // Decisions of one step, once they are durable.
  void Count(const pool::Pool& pool, const std::vector<pool::Decision>& decisions);
  // Free and granted GPUs, jobs by stage, queues, objects that were set aside.
  void Show(const pool::Pool& pool, std::size_t unreadable);

 private:
  metrics::Page& page_;
};

}  // namespace pondage::loop

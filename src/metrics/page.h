// The page of numbers that Prometheus reads: counters, gauges and histograms by name and labels.
//
// Thread rule: any thread. A series appears with its first value; names are declared in names.h.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>

namespace pondage::metrics {

// What a number is: shown to whoever reads the page. Units stand in the name (_seconds, _bytes).
struct Counter {
  const char* name;
  const char* help;
};
struct Gauge {
  const char* name;
  const char* help;
};
struct Histogram {
  const char* name;
  const char* help;
  std::span<const double> buckets;  // upper ends, rising
};

using Labels = std::map<std::string, std::string>;

class Page {
 public:
  Page();
  ~Page();
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;

  // Requires by >= 0.
  void Add(const Counter& counter, const Labels& labels = {}, double by = 1);
  void Set(const Gauge& gauge, double value, const Labels& labels = {});
  void Observe(const Histogram& histogram, double value, const Labels& labels = {});

  // Takes a series off the page: its queue, GPU or namespace is gone.
  void Forget(const Gauge& gauge, const Labels& labels);

  // The whole page in the text format, version 0.0.4.
  std::string Text() const;

 private:
  struct Families;
  const std::unique_ptr<Families> families_;
};

}  // namespace pondage::metrics

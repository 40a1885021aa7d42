#include "metrics/page.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <exception>
#include <mutex>
#include <string_view>

#include "base/assert.h"

namespace pondage::metrics {

struct Page::Families {
  // The library throws at names and labels that Prometheus does not allow: ours are constants, so
  // that is our own mistake.
  template <class Kind, class Build, class Use>
  void With(std::map<std::string_view, prometheus::Family<Kind>*>& known, Build build,
            const char* name, const char* help, Use use) {
    const std::scoped_lock lock(mutex);
    bool allowed = true;
    try {
      auto [found, fresh] = known.try_emplace(name, nullptr);
      if (fresh) found->second = &build().Name(name).Help(help).Register(registry);
      use(*found->second);
    } catch (const std::exception&) {
      allowed = false;
    }
    REQUIRE(allowed);
  }

  mutable std::mutex mutex;
  prometheus::Registry registry;
  std::map<std::string_view, prometheus::Family<prometheus::Counter>*> counters;
  std::map<std::string_view, prometheus::Family<prometheus::Gauge>*> gauges;
  std::map<std::string_view, prometheus::Family<prometheus::Histogram>*> histograms;
};

Page::Page() : families_(std::make_unique<Families>()) {}
Page::~Page() = default;

void Page::Add(const Counter& counter, const Labels& labels, double by) {
  REQUIRE(by >= 0);
  families_->With(families_->counters, prometheus::BuildCounter, counter.name, counter.help,
                  [&](auto& family) { family.Add(labels).Increment(by); });
}

void Page::Set(const Gauge& gauge, double value, const Labels& labels) {
  families_->With(families_->gauges, prometheus::BuildGauge, gauge.name, gauge.help,
                  [&](auto& family) { family.Add(labels).Set(value); });
}

void Page::Observe(const Histogram& histogram, double value, const Labels& labels) {
  families_->With(families_->histograms, prometheus::BuildHistogram, histogram.name, histogram.help,
                  [&](auto& family) {
                    const prometheus::Histogram::BucketBoundaries ends(histogram.buckets.begin(),
                                                                       histogram.buckets.end());
                    family.Add(labels, ends).Observe(value);
                  });
}

void Page::Forget(const Gauge& gauge, const Labels& labels) {
  families_->With(families_->gauges, prometheus::BuildGauge, gauge.name, gauge.help,
                  [&](auto& family) {
                    // It would be made by asking for it, so it is there to be removed.
                    family.Remove(&family.Add(labels));
                  });
}

std::string Page::Text() const {
  const std::scoped_lock lock(families_->mutex);
  return prometheus::TextSerializer().Serialize(families_->registry.Collect());
}

}  // namespace pondage::metrics

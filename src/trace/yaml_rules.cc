#include "trace/yaml_rules.h"

#include <string>

#include "trace/amount.h"

namespace pondage::trace {

namespace {

constexpr std::int64_t kMilli = 1'000;

// "0.9..4", or "3".
std::optional<LimitErrors> ReadLimits(const Field& field) {
  if (!field.Present()) return std::nullopt;
  const std::string text = field.Text();
  const auto dots = text.find("..");
  const auto low = Decimal(text.substr(0, dots), kMilli);
  const auto high = dots == std::string::npos ? low : Decimal(text.substr(dots + 2), kMilli);
  constexpr std::int64_t kMost = 1'000 * kMilli;
  if (!low || !high || *low < 1 || *high < *low || *high > kMost) {
    field.Bad("not like 0.9..4: so many times the true length, at most 1000");
  }
  return LimitErrors{*low, *high};
}

}  // namespace

void ReadFaults(Field field, Faults& faults) {
  if (!field.Present()) return;
  if (const Field mtbf = field.At("mtbf"); mtbf.Present()) faults.mtbf = mtbf.MaybeLength();
  if (faults.mtbf == base::Millis{}) field.At("mtbf").Bad("it is above 0");
  faults.repair = field.At("repair").Length(faults.repair);
  for (Field outage : field.At("outages").List()) {
    faults.outages.push_back({.machine = outage.At("server").Text(),
                              .at = outage.At("at").Length({}),
                              .length = outage.At("for").Length({})});
    outage.NothingElse();
  }
  faults.arrivals = field.At("arrivals").Length(faults.arrivals);
  if (const auto limits = ReadLimits(field.At("limits"))) faults.limits = limits;
  field.NothingElse();
}

void ReadCosts(Field& field, Policy& policy) {
  policy.restart = field.At("restart").Length(policy.restart);
  policy.grace = field.At("grace").Length(policy.grace);
  policy.saving = field.At("saving").Length(policy.saving);
  if (const Field every = field.At("checkpoint-every"); every.Present()) {
    policy.checkpoint_every = every.MaybeLength();
  }
  policy.apart_slowdown_percent = static_cast<int>(
      field.At("apart-slowdown-percent").Whole(0, 1'000, policy.apart_slowdown_percent));
}

void ReadPolicy(Field field, Policy& policy) {
  if (!field.Present()) return;
  policy.name = field.At("name").Text(policy.name);
  policy.baselines = field.At("baselines").Texts();
  policy.also_faster_milli = field.At("also-faster").Number(kMilli, 1, 1'000'000, 0);
  ReadCosts(field, policy);
  field.NothingElse();
}

}  // namespace pondage::trace

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <string>
#include <tuple>

#include "base/assert.h"
#include "job/validate.h"
#include "manifest/object.h"
#include "manifest/pod.h"
#include "manifest/protobuf.h"
#include "manifest/queue.h"
#include "manifest/tfjob.h"
#include "targets.h"

namespace pondage::fuzz {

namespace json = boost::json;

namespace {

// Boost 1.81 reads a double to within a few units of its last place, so that is how near a number
// that is no integer must come back. Integers and all else must come back exactly.
bool Near(double a, double b) {
  return a == b || std::abs(a - b) <= std::abs(a) * 1e-14;
}

bool Same(const json::value& a, const json::value& b) {  // depth: bounded by the decoder
  if (a.is_double() && b.is_number()) return Near(a.as_double(), b.to_number<double>());
  if (a.kind() != b.kind()) return false;
  if (a.is_array()) return std::ranges::equal(a.as_array(), b.as_array(), Same);
  if (!a.is_object()) return a == b;
  return std::ranges::equal(a.as_object(), b.as_object(), [](const auto& x, const auto& y) {
    return x.key() == y.key() && Same(x.value(), y.value());
  });
}

}  // namespace

void Json(std::string_view input) {
  const auto value = manifest::ParseJson(input);
  if (!value) return PROMISE(!value.error().message.empty());
  const std::string text = json::serialize(*value);
  const auto again = manifest::ParseJson(text);
  PROMISE(again && Same(*value, *again));
}

void Manifests(std::string_view input) {
  const auto documents = manifest::ParseManifests(input);
  if (!documents) return PROMISE(!documents.error().message.empty());
  for (const json::object& document : *documents) {
    const std::string text = json::serialize(document);
    const auto again = manifest::ParseJson(text);
    PROMISE(again && Same(document, *again));
    // A document is a manifest of its own, as kubectl would send it back.
    const auto alone = manifest::ParseManifests(text, text.size() + 1);
    PROMISE(alone && alone->size() == 1);
    PROMISE(Same(document, alone->front()));
  }
}

void Protobuf(std::string_view input) {
  const auto object = manifest::DecodeProtobuf(input);
  if (!object) return PROMISE(!object.error().message.empty());
  PROMISE(object->contains("kind"));
  const auto again = manifest::ParseJson(json::serialize(*object));
  PROMISE(again && Same(*object, *again));
}

void Quantity(std::string_view input) {
  const json::value text(input);
  const auto whole = manifest::ParseWhole(text);
  const auto bytes = manifest::ParseBytes(text);
  const auto cpu = manifest::ParseCpu(text);
  PROMISE(whole.has_value() == bytes.has_value());
  if (whole) {
    PROMISE(*whole >= 0 && bytes->value == *whole);
    PROMISE(manifest::ParseWhole(json::value(std::to_string(*whole))).value() == *whole);
  }
  if (cpu) {
    PROMISE(cpu->value >= 0 && whole);  // milli-units overflow first
    PROMISE(manifest::ParseCpu(json::value(std::to_string(cpu->value) + "m"))->value == cpu->value);
    PROMISE(cpu->value / 1000 <= *whole && *whole <= cpu->value / 1000 + 1);  // both round up
  }
}

void Time(std::string_view input) {
  if (const auto at = manifest::ParseTime(input)) {
    const auto again = manifest::ParseTime(manifest::FormatMilliTime(*at));
    PROMISE(again && *again == *at);
    PROMISE(manifest::ParseTime(manifest::FormatMicroTime(*at)).value() == *at);
  }
  if (const auto length = manifest::ParseDuration(input)) {
    PROMISE(length->value >= 0);
    const auto again = manifest::ParseDuration(std::to_string(length->value) + "ms");
    PROMISE(again && *again == *length);
  }
}

namespace {

std::string Write(const manifest::Requirement& need) {
  using enum manifest::Requirement::Operator;
  std::string values;
  for (std::size_t i = 0; i < need.values.size(); ++i)
    values += (i > 0 ? "," : "") + need.values[i];
  switch (need.op) {
    case kExists:
      return need.key;
    case kAbsent:
      return "!" + need.key;
    case kIn:  // "()" is no set, not even of the empty value
      return need.key + (need.values.size() == 1 ? "=" + values : " in (" + values + ")");
    case kNotIn:
      return need.key + (need.values.size() == 1 ? "!=" + values : " notin (" + values + ")");
    case kGreater:
      return need.key + ">" + values;
    case kLess:
      return need.key + "<" + values;
  }
  return "";
}

}  // namespace

void LabelSelector(std::string_view input) {
  const auto needs = manifest::ParseLabelSelector(input);
  if (!needs) return PROMISE(!needs.error().message.empty());
  std::string text;
  for (const manifest::Requirement& need : *needs) text += (text.empty() ? "" : ",") + Write(need);
  const auto again = manifest::ParseLabelSelector(text);
  PROMISE(again && again->size() == needs->size());
  std::map<std::string, std::string> labels;
  for (std::size_t i = 0; i < needs->size(); ++i) {
    const auto& [key, op, values] = (*needs)[i];
    PROMISE((*again)[i].key == key && (*again)[i].op == op && (*again)[i].values == values);
    labels[key] = values.empty() ? "" : values.front();
  }
  PROMISE(manifest::Matches(*needs, labels) == manifest::Matches(*again, labels));
  PROMISE(manifest::Matches(*needs, {}) == manifest::Matches(*again, {}));
}

void FieldSelector(std::string_view input) {
  const auto needs = manifest::ParseFieldSelector(input);
  if (!needs) return PROMISE(!needs.error().message.empty());
  for (const auto& need : *needs) PROMISE(!need.path.empty());
}

void TfJob(std::string_view input) {
  auto value = manifest::ParseJson(input);
  if (!value || !value->is_object()) return;
  json::object& document = value->as_object();
  if (const auto draft = manifest::DraftOf(document)) std::ignore = job::Validate(*draft, nullptr);
  std::ignore = manifest::Warnings(document);
  manifest::Canonicalise(document);
  const std::string once = json::serialize(document);
  manifest::Canonicalise(document);
  PROMISE(json::serialize(document) == once);
  const auto tfjob = manifest::DecodeTfJob(once, [](const std::string&) { return 0; });
  if (!tfjob) return PROMISE(!tfjob.error().message.empty());
  const auto status = manifest::DecodeStatus(manifest::EncodeStatus(tfjob->status));
  PROMISE(status && *status == tfjob->status);
}

void Pod(std::string_view input) {
  const auto none = [](const std::string&, const std::string&) { return std::nullopt; };
  const auto program = manifest::ProgramOf(input, none);
  if (!program) return PROMISE(!program.error().message.empty());
  PROMISE(!program->argv.empty());
  PROMISE(program->memory_limit.value >= 0 && program->cpu_limit.value >= 0);
}

void Queue(std::string_view input) {
  if (auto value = manifest::ParseJson(input); value && value->is_object()) {
    std::ignore = manifest::ValidateQueue(value->as_object());
  }
  if (const auto queue = manifest::DecodeQueue(input); !queue) {
    PROMISE(!queue.error().message.empty());
  }
  std::ignore = manifest::DecodeNode(input);
  std::ignore = manifest::DecodePriorityClass(input);
}

}  // namespace pondage::fuzz

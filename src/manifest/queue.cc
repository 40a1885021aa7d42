#include "manifest/queue.h"

#include <fmt/format.h>

#include <limits>

#include "manifest/annotations.h"
#include "manifest/names.h"
#include "manifest/object.h"
#include "manifest/pod.h"
#include "manifest/pod_spec.h"
#include "manifest/trouble.h"

namespace pondage::manifest {

namespace json = boost::json;

namespace {

using job::FieldError;
using job::FieldErrorKind;

// {"nvidia.com/gpu": quantity} in thousandths of a GPU; none when absent.
base::Result<std::optional<base::MilliGpu>> GpusAt(const Reader& spec, std::string_view key) {
  const json::value* quantity = spec.Object(key).Find(kGpuResource);
  if (quantity == nullptr) return std::nullopt;
  TRY(const base::MilliCpu milli, ParseCpu(*quantity));
  if (milli.value > kMostGpus * 1000) {
    return base::Fail(
        base::Kind::kInvalid, kQuantityId, "",
        fmt::format("Invalid value: {}: is more GPUs than there are", Shown(*quantity)));
  }
  return base::MilliGpu{milli.value};
}

json::object GpuAmount(base::MilliGpu amount) {
  std::string text = fmt::format("{}m", amount.value);
  if (amount.value % 1000 == 0) text = fmt::format("{}", amount.value / 1000);
  return {{kGpuResource, json::string(text)}};
}

// Errors of one `guarantee` or `limit`; its value when it has none.
std::optional<base::MilliGpu> CheckAmount(const Reader& spec, std::string_view key,
                                          std::vector<FieldError>& errors) {
  const Reader amount = spec.Object(key);
  if (amount.Present()) {
    for (const auto& member : *amount.raw()) {
      if (member.key() == kGpuResource) continue;
      errors.push_back({FieldErrorKind::kNotSupported, amount.PathOf(member.key()),
                        fmt::format("Unsupported value: {}: supported values: \"{}\"",
                                    Shown(json::value(member.key())), kGpuResource)});
    }
  }
  auto gpus = GpusAt(spec, key);
  if (gpus) return *gpus;
  errors.push_back({FieldErrorKind::kInvalid, fmt::format("{}[{}]", amount.path(), kGpuResource),
                    gpus.error().message});
  return std::nullopt;
}

}  // namespace

base::Result<queue::Spec> DecodeQueue(std::string_view bytes) {
  TRY(const json::value value, ParseJson(bytes));
  Trouble trouble;
  const Reader root(&value, "", trouble);
  const Reader spec = root.Object("spec");
  queue::Spec out;
  out.name = root.Object("metadata").Text("name");
  out.parent = spec.Text("parent");
  out.display = spec.Text("display");
  TRY(const auto guarantee, GpusAt(spec, "guarantee"));
  TRY(out.limit, GpusAt(spec, "limit"));
  if (guarantee) out.guarantee = *guarantee;
  out.closed = spec.Flag("closed");
  out.held = spec.Flag("held");
  if (const auto seconds = spec.Int("maxRunSeconds", 1, kMostSeconds)) {
    out.max_run = base::SecondsLong(*seconds);
  }
  if (trouble.Any()) return trouble.Fail();
  return out;
}

std::vector<FieldError> ValidateQueue(const json::object& queue) {
  std::vector<FieldError> errors;
  Trouble trouble;
  const Reader root(queue, "", trouble);
  const Reader spec = root.Object("spec");
  const auto invalid = [&errors](std::string path, std::string_view value, std::string_view why) {
    errors.push_back({FieldErrorKind::kInvalid, std::move(path),
                      fmt::format("Invalid value: {}: {}", Shown(json::value(value)), why)});
  };
  const std::string name = root.Object("metadata").Text("name");
  const std::string parent = spec.Text("parent");
  if (!IsDns1123Label(name)) {
    invalid("metadata.name", name,
            "must be a DNS label: at most 63 lower-case letters, digits and '-'; a path such as "
            "lab/nlp goes to spec.display");
  }
  if (!parent.empty() && !IsDns1123Label(parent)) {
    invalid("spec.parent", parent, "must be the name of a queue");
  } else if (!parent.empty() && parent == name) {
    invalid("spec.parent", parent, "a queue cannot be its own parent");
  }
  if (const std::string display = spec.Text("display"); display.size() > 253) {
    errors.push_back(
        {FieldErrorKind::kTooLong, "spec.display", "Too long: may not be more than 253 bytes"});
  }
  const auto guarantee = CheckAmount(spec, "guarantee", errors);
  const auto limit = CheckAmount(spec, "limit", errors);
  if (guarantee && limit && *limit < *guarantee) {
    const auto gpus = [](base::MilliGpu amount) {
      return amount.value % 1000 == 0 ? std::to_string(amount.value / 1000)
                                      : fmt::format("{}m", amount.value);
    };
    invalid("spec.limit", gpus(*limit),
            fmt::format("must not be less than the guarantee, {} GPUs", gpus(*guarantee)));
  }
  spec.Flag("closed");
  spec.Flag("held");
  spec.Int("maxRunSeconds", 1, kMostSeconds);
  if (trouble.Any()) {
    const std::string text = trouble.Fail().error().message;
    const auto colon = text.find(": ");
    errors.push_back({FieldErrorKind::kInvalid, text.substr(0, colon),
                      "Invalid value: " + text.substr(colon + 2)});
  }
  return errors;
}

json::object QueueStatus(base::MilliGpu used, base::MilliGpu borrowed, int waiting, int running) {
  return {{"used", GpuAmount(used)},
          {"borrowed", GpuAmount(borrowed)},
          {"waiting", waiting},
          {"running", running}};
}

json::object DefaultQueue(base::Instant now) {
  const std::string created = FormatTime(now);
  return {{"apiVersion", "pondage.dev/v1alpha1"},
          {"kind", "Queue"},
          {"metadata", json::object{{"name", "default"},
                                    {"uid", json::string(UidFrom("queue/default/" + created))},
                                    {"creationTimestamp", json::string(created)},
                                    {"generation", 1}}},
          {"spec", json::object()}};
}

base::Result<int> DecodePriorityClass(std::string_view bytes) {
  TRY(const json::value value, ParseJson(bytes));
  Trouble trouble;
  const Reader root(&value, "", trouble);
  const int priority = root.Int32("value").value_or(0);
  if (trouble.Any()) return trouble.Fail();
  return priority;
}

}  // namespace pondage::manifest

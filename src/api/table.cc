#include "api/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "api/pod_text.h"
#include "api/render.h"
#include "manifest/object.h"

namespace pondage::api {

namespace json = boost::json;
using manifest::Column;
using manifest::Kind;

namespace {

constexpr const char* kNone = "<none>";

const json::object& ObjectAt(const json::object& object, std::string_view path) {
  static const json::object kEmpty;
  const json::value* value = At(object, path);
  return value && value->is_object() ? value->get_object() : kEmpty;
}

const json::array& ArrayAt(const json::object& object, std::string_view path) {
  static const json::array kEmpty;
  const json::value* value = At(object, path);
  return value && value->is_array() ? value->get_array() : kEmpty;
}

std::string OrNone(std::string text) {
  return text.empty() ? kNone : text;
}

std::string Join(const std::vector<std::string>& parts) {
  return OrNone(fmt::format("{}", fmt::join(parts, ",")));
}

std::string Scalar(const json::value& value) {
  if (value.is_string()) return std::string(value.get_string());
  return json::serialize(value);
}

// "a=1,b=2"
std::string Pairs(const json::object& map) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : map) {
    parts.push_back(fmt::format("{}={}", std::string_view(key), Scalar(value)));
  }
  return Join(parts);
}

std::string NodeStatus(const json::object& node) {
  std::string status = "Unknown";
  for (const auto& condition : ArrayAt(node, "status.conditions")) {
    if (!condition.is_object() || TextAt(condition.get_object(), "type") != "Ready") continue;
    status = TextAt(condition.get_object(), "status") == "True" ? "Ready" : "NotReady";
  }
  const json::value* off = At(node, "spec.unschedulable");
  if (off && off->is_bool() && off->get_bool()) status += ",SchedulingDisabled";
  return status;
}

std::string NodeRoles(const json::object& node) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::vector<std::string> roles;
  for (const auto& [key, value] : ObjectAt(node, "metadata.labels")) {
    const std::string_view label = key;
    if (label.starts_with(kPrefix)) roles.emplace_back(label.substr(kPrefix.size()));
  }
  std::ranges::sort(roles);
  return Join(roles);
}

std::string NodeAddress(const json::object& node, std::string_view type) {
  for (const auto& address : ArrayAt(node, "status.addresses")) {
    if (address.is_object() && TextAt(address.get_object(), "type") == type) {
      return TextAt(address.get_object(), "address");
    }
  }
  return kNone;
}

std::string EventObject(const json::object& event) {
  std::string kind = TextAt(event, "involvedObject.kind");
  std::ranges::transform(kind, kind.begin(), [](unsigned char c) { return std::tolower(c); });
  return kind + "/" + TextAt(event, "involvedObject.name");
}

std::string EventSource(const json::object& event) {
  std::string source = TextAt(event, "source.component");
  if (source.empty()) source = TextAt(event, "reportingComponent");
  const std::string host = TextAt(event, "source.host");
  return host.empty() ? source : source + ", " + host;
}

std::string EventAge(const json::object& event, std::string_view time, base::Instant now) {
  if (At(event, time)) return Age(At(event, time), now);
  return Age(At(event, "eventTime"), now);
}

std::string EventLastSeen(const json::object& event, base::Instant now) {
  if (At(event, "series.lastObservedTime")) return Age(At(event, "series.lastObservedTime"), now);
  return EventAge(event, "lastTimestamp", now);
}

std::string ServicePorts(const json::object& service) {
  std::vector<std::string> parts;
  for (const auto& port : ArrayAt(service, "spec.ports")) {
    if (!port.is_object()) continue;
    const json::value* number = At(port.get_object(), "port");
    const std::string protocol = TextAt(port.get_object(), "protocol");
    parts.push_back(
        fmt::format("{}/{}", number ? Scalar(*number) : "", protocol.empty() ? "TCP" : protocol));
  }
  return Join(parts);
}

std::string AccessModes(const json::object& claim) {
  static const std::map<std::string, std::string, std::less<>> kShort = {
      {"ReadWriteOnce", "RWO"},
      {"ReadOnlyMany", "ROX"},
      {"ReadWriteMany", "RWX"},
      {"ReadWriteOncePod", "RWOP"}};
  std::vector<std::string> parts;
  for (const auto& mode : ArrayAt(claim, "spec.accessModes")) {
    if (!mode.is_string()) continue;
    const auto found = kShort.find(std::string_view(mode.get_string()));
    if (found != kShort.end()) parts.push_back(found->second);
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

// `{"nvidia.com/gpu":"4"}` as "4"; a bare quantity as it is.
json::value Gpus(const json::object& queue, std::string_view path) {
  const json::value* value = At(queue, path);
  if (!value || value->is_null()) return nullptr;
  if (!value->is_object()) return json::value(Scalar(*value));
  const json::value* gpus = value->get_object().if_contains("nvidia.com/gpu");
  return gpus ? json::value(Scalar(*gpus)) : json::value(Pairs(value->get_object()));
}

json::value LastCondition(const json::object& job) {
  const json::array& conditions = ArrayAt(job, "status.conditions");
  if (conditions.empty() || !conditions.back().is_object()) return nullptr;
  return json::value(TextAt(conditions.back().get_object(), "type"));
}

std::int64_t DataCount(const json::object& object) {
  return static_cast<std::int64_t>(ObjectAt(object, "data").size() +
                                   ObjectAt(object, "binaryData").size());
}

using Compute = json::value (*)(const json::object&, base::Instant);
struct ComputedColumn {
  std::string_view kind, column;
  Compute compute;
};

const ComputedColumn kComputed[] = {
    {"Node", "Status",
     [](const json::object& o, base::Instant) { return json::value(NodeStatus(o)); }},
    {"Node", "Roles",
     [](const json::object& o, base::Instant) { return json::value(NodeRoles(o)); }},
    {"Node", "Internal-IP",
     [](const json::object& o, base::Instant) {
       return json::value(NodeAddress(o, "InternalIP"));
     }},
    {"Node", "External-IP",
     [](const json::object& o, base::Instant) {
       return json::value(NodeAddress(o, "ExternalIP"));
     }},
    {"Pod", "Ready", [](const json::object& o, base::Instant) { return json::value(PodReady(o)); }},
    {"Pod", "Status",
     [](const json::object& o, base::Instant) { return json::value(PodStatusWord(o)); }},
    {"Pod", "Restarts",
     [](const json::object& o, base::Instant now) { return json::value(PodRestarts(o, now)); }},
    {"Pod", "Readiness Gates",
     [](const json::object&, base::Instant) { return json::value(kNone); }},
    {"Event", "Last Seen",
     [](const json::object& o, base::Instant now) { return json::value(EventLastSeen(o, now)); }},
    {"Event", "Object",
     [](const json::object& o, base::Instant) { return json::value(EventObject(o)); }},
    {"Event", "Source",
     [](const json::object& o, base::Instant) { return json::value(EventSource(o)); }},
    {"Event", "First Seen",
     [](const json::object& o, base::Instant now) {
       return json::value(EventAge(o, "firstTimestamp", now));
     }},
    {"ConfigMap", "Data",
     [](const json::object& o, base::Instant) { return json::value(DataCount(o)); }},
    {"Secret", "Data",
     [](const json::object& o, base::Instant) { return json::value(DataCount(o)); }},
    {"ServiceAccount", "Secrets",
     [](const json::object& o, base::Instant) {
       return json::value(ArrayAt(o, "secrets").size());
     }},
    {"Service", "External-IP",
     [](const json::object&, base::Instant) { return json::value(kNone); }},
    {"Service", "Port(s)",
     [](const json::object& o, base::Instant) { return json::value(ServicePorts(o)); }},
    {"Service", "Selector",
     [](const json::object& o, base::Instant) {
       return json::value(Pairs(ObjectAt(o, "spec.selector")));
     }},
    {"PersistentVolumeClaim", "Status",
     [](const json::object& o, base::Instant) {
       return json::value(At(o, "metadata.deletionTimestamp") != nullptr
                              ? "Terminating"
                              : TextAt(o, "status.phase"));
     }},
    {"PersistentVolumeClaim", "Access Modes",
     [](const json::object& o, base::Instant) { return json::value(AccessModes(o)); }},
    {"PriorityClass", "Global-Default",
     [](const json::object& o, base::Instant) {
       const json::value* value = o.if_contains("globalDefault");
       return json::value(value && value->is_bool() && value->get_bool());
     }},
    {"TFJob", "State", [](const json::object& o, base::Instant) { return LastCondition(o); }},
    {"Queue", "Guarantee",
     [](const json::object& o, base::Instant) { return Gpus(o, "spec.guarantee"); }},
    {"Queue", "Limit", [](const json::object& o, base::Instant) { return Gpus(o, "spec.limit"); }},
    {"Queue", "Used", [](const json::object& o, base::Instant) { return Gpus(o, "status.used"); }},
    {"Queue", "Borrowed",
     [](const json::object& o, base::Instant) { return Gpus(o, "status.borrowed"); }},
};

json::value Cell(const Kind& kind, const Column& column, const json::object& object,
                 base::Instant now) {
  if (column.path.empty()) {
    for (const ComputedColumn& computed : kComputed) {
      if (computed.kind == kind.kind && computed.column == column.name) {
        return computed.compute(object, now);
      }
    }
    return nullptr;
  }
  const json::value* value = At(object, column.path);
  if (column.type == "date") return json::value(Age(value, now));
  if (value && column.type == "integer" && value->is_number()) return *value;
  if (value && !value->is_null()) return json::value(Scalar(*value));
  if (kind.custom || column.type == "integer") return nullptr;
  return column.priority > 0 ? json::value(kNone) : json::value("");
}

}  // namespace

const json::value* At(const json::object& object, std::string_view path) {
  const json::object* here = &object;
  for (;;) {
    const auto dot = path.find('.');
    const json::value* value = here->if_contains(path.substr(0, dot));
    if (!value) return nullptr;
    if (dot == std::string_view::npos) return value;
    if (!value->is_object()) return nullptr;
    here = &value->get_object();
    path.remove_prefix(dot + 1);
  }
}

std::string TextAt(const json::object& object, std::string_view path) {
  const json::value* value = At(object, path);
  return value && value->is_string() ? std::string(value->get_string()) : "";
}

std::string ShortLength(base::Millis length) {
  const std::int64_t seconds = length.value / 1000;
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  const std::int64_t minutes = seconds / 60, hours = minutes / 60, days = hours / 24;
  const auto two = [](std::int64_t whole, char unit, std::int64_t part, char part_unit) {
    return part == 0 ? fmt::format("{}{}", whole, unit)
                     : fmt::format("{}{}{}{}", whole, unit, part, part_unit);
  };
  if (seconds < 120) return fmt::format("{}s", seconds);
  if (minutes < 10) return two(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return fmt::format("{}m", minutes);
  if (hours < 8) return two(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return fmt::format("{}h", hours);
  if (days < 8) return two(days, 'd', hours % 24, 'h');
  if (days < 365 * 2) return fmt::format("{}d", days);
  if (days < 365 * 8) return two(days / 365, 'y', days % 365, 'd');
  return fmt::format("{}y", days / 365);
}

std::string Age(const json::value* time, base::Instant now) {
  if (!time || !time->is_string()) return "<unknown>";
  const auto at = manifest::ParseTime(time->get_string());
  return at ? ShortLength(now - *at) : "<unknown>";
}

json::array ColumnDefinitions(const Kind& kind) {
  json::array columns;
  const auto add = [&](std::string_view name, std::string_view type, std::string_view format,
                       int priority) {
    columns.push_back({{"name", name},
                       {"type", type},
                       {"format", format},
                       {"description", name},
                       {"priority", priority}});
  };
  if (kind.name_first) add("Name", "string", "name", 0);
  for (const Column& column : kind.columns) {
    // A date is rendered here, so that to the client it is a text.
    add(column.name, column.type == "date" ? "string" : column.type,
        column.name == "Name" ? "name" : "", column.priority);
  }
  return columns;
}

json::array Cells(const Kind& kind, const json::object& object, base::Instant now) {
  json::array cells;
  cells.reserve(kind.columns.size() + 1);
  if (kind.name_first) cells.emplace_back(TextAt(object, "metadata.name"));
  for (const Column& column : kind.columns) cells.push_back(Cell(kind, column, object, now));
  return cells;
}

void AppendRow(std::string& out, const Kind& kind, const port::Object& object,
               IncludeObject include, std::string_view version, base::Instant now) {
  // The values of one row live in this block and go with it.
  unsigned char block[16 << 10];
  json::monotonic_resource memory(block, sizeof block);
  boost::system::error_code error;
  const json::value value = json::parse(*object.body, error, &memory);
  out.append(R"({"cells":)");
  if (!error && value.is_object()) {
    out.append(json::serialize(Cells(kind, value.get_object(), now)));
  } else {
    out.append(json::serialize(json::array{object.key.name}));
  }
  if (include == IncludeObject::kMetadata) {
    out.append(R"(,"object":)");
    AppendPartial(out, object, version);
  } else if (include == IncludeObject::kObject) {
    out.append(R"(,"object":)");
    AppendObject(out, object);
  }
  out.append("}");
}

}  // namespace pondage::api

#include "api/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "api/problem.h"
#include "api/read.h"
#include "api/render.h"
#include "api/table.h"
#include "manifest/object.h"
#include "manifest/pod.h"

namespace pondage::api {

namespace json = boost::json;

namespace {

constexpr std::size_t kPieceBytes = 64 << 10;
constexpr base::Millis kLookAgain{100};

struct Source {
  std::string uid;
  int start = 0;
};

struct Wanted {
  bool follow = false;
  bool timestamps = false;
  std::optional<std::int64_t> tail_lines, limit_bytes;
  std::optional<base::Instant> since;
};

class LogStream : public Stream {
 public:
  LogStream(const World& world, Source source, Wanted wanted, std::int64_t offset)
      : world_(world), source_(std::move(source)), wanted_(wanted), offset_(offset) {}

  bool Live() const override { return wanted_.follow; }
  base::Millis WaitAtMost() const override { return kLookAgain; }

  Next Fill(std::string& out) override {
    std::size_t most = kPieceBytes;
    if (wanted_.limit_bytes) {
      most = std::min<std::size_t>(most, static_cast<std::size_t>(*wanted_.limit_bytes));
    }
    if (most == 0) return Next::kEnd;
    const auto chunk = world_.logs.Read(source_.uid, source_.start, offset_, most);
    if (!chunk) return Next::kEnd;
    offset_ = chunk->offset;
    Append(out, chunk->bytes);
    offset_ += static_cast<std::int64_t>(chunk->bytes.size());
    if (!chunk->bytes.empty()) return Next::kMore;
    return chunk->ended || !wanted_.follow ? Next::kEnd : Next::kWait;
  }

 private:
  void Append(std::string& out, std::string_view bytes) {
    if (wanted_.limit_bytes) *wanted_.limit_bytes -= static_cast<std::int64_t>(bytes.size());
    if (!wanted_.timestamps) {
      out.append(bytes);
      return;
    }
    std::int64_t at = offset_;
    while (!bytes.empty()) {
      if (line_begins_) {
        const auto written = world_.logs.WrittenAt(source_.uid, source_.start, at);
        if (written) out.append(manifest::FormatMicroTime(*written)).push_back(' ');
      }
      const auto end = bytes.find('\n');
      const std::size_t size = end == std::string_view::npos ? bytes.size() : end + 1;
      out.append(bytes.substr(0, size));
      line_begins_ = end != std::string_view::npos;
      bytes.remove_prefix(size);
      at += static_cast<std::int64_t>(size);
    }
  }

  const World& world_;
  const Source source_;
  Wanted wanted_;
  std::int64_t offset_;
  bool line_begins_ = true;
};

Outcome<std::optional<std::int64_t>> NumberOf(const Request& request, std::string_view name) {
  const std::string text = request.query.Get(name);
  if (text.empty()) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Refuse(BadRequest(fmt::format("invalid {}: \"{}\"", name, text)));
  }
  if (number < 0) {
    return Refuse(Unprocessable(fmt::format(
        "PodLogOptions.v1 is invalid: {}: Invalid value: {}: must be greater than or equal to 0",
        name, number)));
  }
  return number;
}

Outcome<Wanted> WantedOf(const Request& request, const World& world) {
  Wanted wanted;
  wanted.follow = request.query.Flag("follow");
  wanted.timestamps = request.query.Flag("timestamps");
  const auto tail = NumberOf(request, "tailLines");
  const auto limit = NumberOf(request, "limitBytes");
  const auto since = NumberOf(request, "sinceSeconds");
  if (!tail) return Refuse(tail.error());
  if (!limit) return Refuse(limit.error());
  if (!since) return Refuse(since.error());
  wanted.tail_lines = *tail;
  wanted.limit_bytes = *limit;
  const std::string time = request.query.Get("sinceTime");
  if (*since && !time.empty()) {
    return Refuse(
        Unprocessable("PodLogOptions.v1 is invalid: at most one of `sinceTime` or `sinceSeconds` "
                      "may be specified"));
  }
  if (*since)
    wanted.since = world.now() - base::SecondsLong(std::min<std::int64_t>(**since, 1LL << 32));
  if (!time.empty()) {
    const auto at = manifest::ParseTime(time);
    if (!at) return Refuse(BadRequest(fmt::format("invalid sinceTime: \"{}\"", time)));
    wanted.since = *at;
  }
  return wanted;
}

std::vector<std::string> Containers(const json::object& pod) {
  std::vector<std::string> names;
  const json::value* list = At(pod, "spec.containers");
  if (!list || !list->is_array()) return names;
  for (const auto& container : list->get_array()) {
    if (container.is_object()) names.push_back(TextAt(container.get_object(), "name"));
  }
  return names;
}

Outcome<std::string> ContainerOf(const Request& request, const json::object& pod,
                                 const std::string& pod_name) {
  const auto names = Containers(pod);
  std::string asked = request.query.Get("container");
  if (asked.empty()) {
    // Its name holds dots: not a path for At().
    const json::value* notes = At(pod, "metadata.annotations");
    if (notes && notes->is_object()) {
      const auto* own = notes->get_object().if_contains("kubectl.kubernetes.io/default-container");
      if (own && own->is_string()) asked = own->get_string();
    }
  }
  if (asked.empty() && names.size() == 1) return names.front();
  if (asked.empty()) {
    return Refuse(
        BadRequest(fmt::format("a container name must be specified for pod {}, choose one of: "
                               "[{}]",
                               pod_name, fmt::join(names, " "))));
  }
  if (std::ranges::find(names, asked) == names.end()) {
    return Refuse(BadRequest(fmt::format("container {} is not valid for pod {}", asked, pod_name)));
  }
  return asked;
}

const json::object* StatusOf(const json::object& pod, const std::string& container) {
  const json::value* list = At(pod, "status.containerStatuses");
  if (!list || !list->is_array()) return nullptr;
  for (const auto& status : list->get_array()) {
    if (status.is_object() && TextAt(status.get_object(), "name") == container) {
      return &status.get_object();
    }
  }
  return nullptr;
}

int RestartsOf(const json::object* status) {
  const json::value* count = status ? status->if_contains("restartCount") : nullptr;
  return count && count->is_int64() ? static_cast<int>(count->get_int64()) : 0;
}

bool Wrote(const World& world, const Source& source) {
  return world.logs.Read(source.uid, source.start, 0, 1).has_value();
}

// The last start of the Pod that stood here before this one, in an earlier incarnation.
std::optional<Source> EarlierPod(const json::object& pod, const World& world) {
  const json::value* labels = At(pod, "metadata.labels");
  const json::value* notes = At(pod, "metadata.annotations");
  const json::value* owners = At(pod, "metadata.ownerReferences");
  if (!labels || !labels->is_object() || !notes || !notes->is_object() || !owners ||
      !owners->is_array() || owners->get_array().empty() || !owners->get_array()[0].is_object()) {
    return std::nullopt;
  }
  const auto text = [](const json::value& map, std::string_view key) {
    const json::value* value = map.get_object().if_contains(key);
    return value && value->is_string() ? std::string(value->get_string()) : std::string();
  };
  const auto number = [&](const json::value& map, std::string_view key) {
    const std::string digits = text(map, key);
    int parsed = -1;
    std::from_chars(digits.data(), digits.data() + digits.size(), parsed);
    return parsed;
  };
  const auto role = job::RoleFromName(text(*labels, "training.kubeflow.org/replica-type"));
  const int index = number(*labels, "training.kubeflow.org/replica-index");
  const json::object& owner = owners->get_array()[0].get_object();
  job::Identity identity;
  identity.space = TextAt(pod, "metadata.namespace");
  identity.name = TextAt(owner, "name");
  identity.uid = TextAt(owner, "uid");
  if (!role || index < 0) return std::nullopt;
  for (int earlier = number(*notes, "pondage.dev/incarnation") - 1; earlier >= 1; --earlier) {
    Source source{manifest::PodUid(identity, *role, index, earlier), 0};
    if (!Wrote(world, source)) continue;
    while (Wrote(world, {source.uid, source.start + 1})) ++source.start;
    return source;
  }
  return std::nullopt;
}

Outcome<Source> SourceOf(const Request& request, const json::object& pod,
                         const port::Object& object, const std::string& container,
                         const World& world) {
  const json::object* status = StatusOf(pod, container);
  Source source{object.uid, RestartsOf(status)};
  if (request.query.Flag("previous")) {
    if (source.start > 0) {
      --source.start;
      return source;
    }
    if (auto earlier = EarlierPod(pod, world)) return *std::move(earlier);
    return Refuse(
        BadRequest(fmt::format("previous terminated container \"{}\" in pod \"{}\" not found",
                               container, object.key.name)));
  }
  if (!Wrote(world, source) && status && At(*status, "state.waiting")) {
    // Between two starts the last one is what there is to read.
    if (source.start > 0 && Wrote(world, {source.uid, source.start - 1})) --source.start;
    if (!Wrote(world, source)) {
      const std::string reason = TextAt(*status, "state.waiting.reason");
      return Refuse(BadRequest(fmt::format("container \"{}\" in pod \"{}\" is waiting to start: {}",
                                           container, object.key.name,
                                           reason.empty() ? "ContainerCreating" : reason)));
    }
  }
  return source;
}

}  // namespace

Response PodLog(const Request& request, const Route& route, const World& world) {
  const auto wanted = WantedOf(request, world);
  if (!wanted) return ToResponse(wanted.error());
  const auto object = world.store.Get(KeyOf(route));
  if (!object) return ToResponse(FromError(object.error(), *route.kind, route.name));
  const json::object pod = Parsed(*object);
  const auto container = ContainerOf(request, pod, route.name);
  if (!container) return ToResponse(container.error());
  if (TextAt(pod, "spec.nodeName").empty()) return TextResponse("", 204);
  const auto source = SourceOf(request, pod, *object, *container, world);
  if (!source) return ToResponse(source.error());
  std::int64_t offset = 0;
  if (wanted->since) {
    offset = world.logs.OffsetSince(source->uid, source->start, *wanted->since).value_or(offset);
  }
  if (wanted->tail_lines) {
    const auto tail = world.logs.TailOffset(source->uid, source->start, *wanted->tail_lines);
    offset = std::max(offset, tail.value_or(offset));
  }
  Response response;
  response.content_type = "text/plain";
  response.stream = std::make_unique<LogStream>(world, *source, *wanted, offset);
  return response;
}

}  // namespace pondage::api

#include "api/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "api/container.h"
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

// A byte of what one start wrote, as the header of an answer names its first and `from` asks for
// it: UID/START/OFFSET.
struct Place {
  Source source;
  std::int64_t offset = 0;
};
constexpr const char* kPlaceHeader = "Pondage-Log-From";

struct Wanted {
  bool follow = false;
  bool timestamps = false;
  std::optional<std::int64_t> tail_lines, limit_bytes;
  std::optional<base::Instant> since;
  std::optional<Place> from;
};

class LogStream : public Stream {
 public:
  LogStream(const World& world, Wanted wanted, Place first)
      : world_(world),
        source_(std::move(first.source)),
        wanted_(std::move(wanted)),
        offset_(first.offset) {
    if (!wanted_.from || offset_ == 0) return;
    const auto before = world_.logs.Read(source_.uid, source_.start, offset_ - 1, 1);
    line_begins_ = !before || before->offset == offset_ || before->bytes == "\n";
  }

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
    // Rotated away while a slow client read: what follows does not join what was sent.
    if (chunk->offset > offset_) return Next::kBroken;
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
    const auto behind = at + static_cast<std::int64_t>(bytes.size());
    const auto marks = world_.logs.Marks(source_.uid, source_.start, at, behind);
    std::size_t mark = 0;
    while (!bytes.empty()) {
      if (line_begins_ && marks && !marks->empty()) {
        while (mark + 1 < marks->size() && (*marks)[mark + 1].offset <= at) ++mark;
        out.append(manifest::FormatMicroTime((*marks)[mark].at)).push_back(' ');
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

std::string TextOf(const Place& place) {
  return fmt::format("{}/{}/{}", place.source.uid, place.source.start, place.offset);
}

std::optional<Place> ParsePlace(std::string_view text) {
  Place place;
  const auto number = [&text](auto& into) {
    const std::size_t slash = text.rfind('/');
    if (slash == std::string_view::npos) return false;
    const std::string_view digits = text.substr(slash + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), into);
    text = text.substr(0, slash);
    return error == std::errc() && end == digits.data() + digits.size() && into >= 0;
  };
  if (!number(place.offset) || !number(place.source.start) || text.empty()) return std::nullopt;
  place.source.uid = text;
  return place;
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
  if (const std::string from = request.query.Get("from"); !from.empty()) {
    wanted.from = ParsePlace(from);
    if (!wanted.from) return Refuse(BadRequest(fmt::format("invalid from: \"{}\"", from)));
  }
  return wanted;
}

int RestartsOf(const json::object* status) {
  const json::value* count = status ? status->if_contains("restartCount") : nullptr;
  return count && count->is_int64() ? static_cast<int>(count->get_int64()) : 0;
}

bool Wrote(const World& world, const Source& source) {
  return world.logs.Read(source.uid, source.start, 0, 1).has_value();
}

// One replica of a TFJob with all the Pods it has had, of incarnations 1 to `last`.
struct Lineage {
  job::Identity identity;
  job::Role role = job::Role::kWorker;
  int index = 0;
  int last = 0;
};

int NumberIn(std::string_view digits) {
  int parsed = -1;
  std::from_chars(digits.data(), digits.data() + digits.size(), parsed);
  return parsed;
}

// Labels, annotations and owners are the client's to change, the uid is not: it tells whether they
// are the replica's own, or say that of another.
std::optional<Lineage> LineageOf(const json::object& pod, const std::string& uid) {
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
  const auto role = job::RoleFromName(text(*labels, "training.kubeflow.org/replica-type"));
  Lineage lineage;
  lineage.index = NumberIn(text(*labels, "training.kubeflow.org/replica-index"));
  lineage.last = NumberIn(text(*notes, "pondage.dev/incarnation"));
  if (!role || lineage.index < 0) return std::nullopt;
  lineage.role = *role;
  const json::object& owner = owners->get_array()[0].get_object();
  lineage.identity.space = TextAt(pod, "metadata.namespace");
  lineage.identity.name = TextAt(owner, "name");
  lineage.identity.uid = TextAt(owner, "uid");
  const bool own = manifest::PodUid(lineage.identity, *role, lineage.index, lineage.last) == uid;
  if (!own) return std::nullopt;
  return lineage;
}

// Of a Pod that is gone, as a stopped job's are: JOB-ROLE-INDEX, by its TFJob.
std::optional<Lineage> LineageOfGone(const Route& route, const World& world) {
  const std::size_t last_dash = route.name.rfind('-');
  if (last_dash == std::string::npos || last_dash == 0) return std::nullopt;
  const std::size_t dash = route.name.rfind('-', last_dash - 1);
  if (dash == std::string::npos || dash == 0) return std::nullopt;
  const auto role = job::RoleFromName(route.name.substr(dash + 1, last_dash - dash - 1));
  const int index = NumberIn(std::string_view(route.name).substr(last_dash + 1));
  if (!role || index < 0) return std::nullopt;
  const auto object =
      world.store.Get({"tfjobs.kubeflow.org", route.space, route.name.substr(0, dash)});
  if (!object) return std::nullopt;
  const json::object tfjob = Parsed(*object);
  const json::value* replicas = At(tfjob, "status.pondage.replicas");
  if (!replicas || !replicas->is_array()) return std::nullopt;
  for (const auto& replica : replicas->get_array()) {
    if (!replica.is_object() || job::RoleFromName(TextAt(replica.get_object(), "role")) != role)
      continue;
    const json::value* number = At(replica.get_object(), "index");
    const json::value* made = At(replica.get_object(), "incarnation");
    if (!number || !number->is_int64() || number->get_int64() != index) continue;
    if (!made || !made->is_int64()) return std::nullopt;
    Lineage lineage{.role = *role, .index = index, .last = static_cast<int>(made->get_int64())};
    lineage.identity.space = route.space;
    lineage.identity.name = route.name.substr(0, dash);
    lineage.identity.uid = TextAt(tfjob, "metadata.uid");
    return lineage;
  }
  return std::nullopt;
}

// Every start that wrote something, the oldest first.
std::vector<Source> StartsOf(const Lineage& lineage, const World& world) {
  std::vector<Source> starts;
  constexpr int kMost = 10'000;  // the number may be a client's: bounded
  for (int each = 1; each <= std::min(lineage.last, kMost); ++each) {
    Source source{manifest::PodUid(lineage.identity, lineage.role, lineage.index, each), 0};
    for (; Wrote(world, source); ++source.start) starts.push_back(source);
  }
  return starts;
}

// The last start of the Pod that stood here before this one, in an earlier incarnation.
std::optional<Source> EarlierPod(const json::object& pod, const std::string& uid,
                                 const World& world) {
  auto lineage = LineageOf(pod, uid);
  if (!lineage) return std::nullopt;
  --lineage->last;
  const auto starts = StartsOf(*lineage, world);
  if (starts.empty()) return std::nullopt;
  return starts.back();
}

// The start that `attempt` counts to; without it the last, or with `previous` the one before.
Outcome<Source> StartAsked(const Request& request, const Route& route,
                           const std::vector<Source>& starts) {
  const auto attempt = NumberOf(request, "attempt");
  if (!attempt) return Refuse(attempt.error());
  const auto there = static_cast<std::int64_t>(starts.size());
  const std::int64_t asked = attempt->value_or(request.query.Flag("previous") ? there - 1 : there);
  if (!*attempt && asked < 1) {
    return Refuse(
        BadRequest(fmt::format("{} was started once; there is nothing before it", route.name)));
  }
  if (asked < 1 || asked > there) {
    return Refuse(
        BadRequest(fmt::format("{} has no attempt {}; it has {}", route.name, asked, there)));
  }
  return starts[static_cast<std::size_t>(asked - 1)];
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
    if (auto earlier = EarlierPod(pod, object.uid, world)) return *std::move(earlier);
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

// `from` names a start by its uid: one of this replica's own, or it opens nobody's log.
Outcome<Source> SourceFrom(const Place& from, const std::string& present,
                           const std::optional<Lineage>& lineage, const World& world) {
  const bool own =
      from.source.uid == present ||
      (lineage && std::ranges::any_of(StartsOf(*lineage, world), [&](const Source& source) {
         return source.uid == from.source.uid;
       }));
  if (!own || !Wrote(world, from.source)) {
    return Refuse(BadRequest(fmt::format("there is no log at {}", TextOf(from))));
  }
  return from.source;
}

// Where the answer begins. An offset before what is kept is moved up to it.
Place FirstOf(const Source& source, const Wanted& wanted, const World& world) {
  Place first{source, 0};
  if (wanted.from) {
    first.offset = wanted.from->offset;
  } else {
    if (wanted.since) {
      first.offset =
          world.logs.OffsetSince(source.uid, source.start, *wanted.since).value_or(first.offset);
    }
    if (wanted.tail_lines) {
      const auto tail = world.logs.TailOffset(source.uid, source.start, *wanted.tail_lines);
      first.offset = std::max(first.offset, tail.value_or(first.offset));
    }
  }
  const auto there = world.logs.Read(source.uid, source.start, first.offset, 1);
  if (there) first.offset = there->offset;
  return first;
}

}  // namespace

Response PodLog(const Request& request, const Route& route, const World& world) {
  const auto wanted = WantedOf(request, world);
  if (!wanted) return ToResponse(wanted.error());
  const auto object = world.store.Get(KeyOf(route));
  Outcome<Source> source;
  if (!object) {
    // What its Pods wrote stays as long as the job.
    const auto lineage = LineageOfGone(route, world);
    const auto starts = lineage ? StartsOf(*lineage, world) : std::vector<Source>();
    if (starts.empty()) return ToResponse(FromError(object.error(), *route.kind, route.name));
    source = wanted->from ? SourceFrom(*wanted->from, "", lineage, world)
                          : StartAsked(request, route, starts);
  } else {
    const json::object pod = Parsed(*object);
    const auto container = ContainerOf(request, pod, route.name);
    if (!container) return ToResponse(container.error());
    const auto lineage = LineageOf(pod, object->uid);
    if (wanted->from) {
      source = SourceFrom(*wanted->from, object->uid, lineage, world);
    } else if (lineage && !request.query.Get("attempt").empty()) {
      source = StartAsked(request, route, StartsOf(*lineage, world));
    } else {
      if (TextAt(pod, "spec.nodeName").empty()) return TextResponse("", 204);
      source = SourceOf(request, pod, *object, *container, world);
    }
  }
  if (!source) return ToResponse(source.error());
  const Place first = FirstOf(*source, *wanted, world);
  Response response;
  response.content_type = "text/plain";
  response.headers.emplace_back(kPlaceHeader, TextOf(first));
  response.stream = std::make_unique<LogStream>(world, *wanted, first);
  return response;
}

}  // namespace pondage::api

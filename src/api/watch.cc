#include "api/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "api/pager.h"
#include "api/read.h"
#include "api/render.h"
#include "api/select.h"
#include "base/random.h"

namespace pondage::api {

namespace json = boost::json;
using manifest::Kind;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::size_t kPieceBytes = 128 << 10;
constexpr std::size_t kBufferedEvents = 10'000;
constexpr std::size_t kReplayedEvents = 100'000;
constexpr auto kBookmarkEvery = std::chrono::seconds(60);

// Whose events, and what they are to this watcher: an object may enter or leave its selection.
struct Filter {
  std::string space;
  Selection selection;

  // Empty: nothing to this watcher.
  std::string_view TypeOf(const port::Event& event) const {
    if (!space.empty() && event.object.key.space != space) return "";
    const bool selects = !selection.Empty();
    const bool now = !selects || selection.Matches(*event.object.facets);
    if (event.type == port::Event::Type::kAdded) return now ? "ADDED" : "";
    const bool before =
        !selects || (event.previous_facets ? selection.Matches(*event.previous_facets) : now);
    if (event.type == port::Event::Type::kDeleted) return before ? "DELETED" : "";
    if (now) return before ? "MODIFIED" : "ADDED";
    return before ? "DELETED" : "";
  }
};

struct Plan {
  std::shared_ptr<const Filter> filter;
  Presentation presentation;
  bool bookmarks = false;
  bool initial_end = false;  // tell where the initial events end
  port::Revision from = 0;   // everything up to it is known or in `initial`
  std::optional<Pager> initial;
  std::vector<Sink::Entry> replay;
  std::chrono::milliseconds lasts{0};
};

class WatchStream : public Stream {
 public:
  WatchStream(const Kind& kind, Plan plan, const World& world, Watchers& watchers,
              std::shared_ptr<Sink> sink)
      : kind_(kind),
        plan_(std::move(plan)),
        now_(world.now),
        store_(world.store),
        watchers_(watchers),
        sink_(std::move(sink)),
        sent_(plan_.from),
        ends_(Clock::now() + plan_.lasts),
        bookmark_(Clock::now() + kBookmarkEvery) {}
  ~WatchStream() override { watchers_.Remove(std::string(kind_.storage), sink_); }

  bool Live() const override { return true; }
  void OnReady(std::function<void()> wake) override { sink_->OnReady(std::move(wake)); }

  base::Millis WaitAtMost() const override {
    const auto until = plan_.bookmarks ? std::min(ends_, bookmark_) : ends_;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    return base::Millis{std::max<std::int64_t>(left.count(), 1)};
  }

  Next Fill(std::string& out) override {
    if (FillKnown(out)) return Next::kMore;
    if (broken_) return Next::kBroken;
    if (sink_->overflowed()) return Next::kEnd;  // the client watches again from what it has
    const port::Revision reached = sink_->newest();
    const auto entries = sink_->Drain(256);
    for (const auto& entry : entries) {
      if (entry.event().object.revision <= plan_.from) continue;  // was replayed
      if (!Tell(out, entry.event())) return Next::kEnd;
    }
    if (!entries.empty()) return Next::kMore;
    sent_ = std::max(sent_, reached);
    if (Clock::now() >= ends_) {
      if (plan_.bookmarks) AppendBookmark(out, false);
      return Next::kEnd;
    }
    if (plan_.bookmarks && Clock::now() >= bookmark_) AppendBookmark(out, false);
    return Next::kWait;
  }

 private:
  // What was there when the watch began. True: there is more of it.
  bool FillKnown(std::string& out) {
    while (plan_.initial && out.size() < kPieceBytes) {
      const auto object = plan_.initial->Next();
      broken_ = !object;  // the client was too slow: it begins anew
      if (broken_) return false;
      if (*object) {
        AppendEvent(out, "ADDED", **object);
      } else {
        plan_.initial.reset();
      }
    }
    if (plan_.initial) return true;
    if (plan_.initial_end) {
      plan_.initial_end = false;
      AppendBookmark(out, true);
    }
    while (replayed_ < plan_.replay.size() && out.size() < kPieceBytes) {
      broken_ = !Tell(out, plan_.replay[replayed_++].event());
      if (broken_) return false;
    }
    if (replayed_ < plan_.replay.size()) return true;
    plan_.replay = {};
    replayed_ = 0;
    return out.size() >= kPieceBytes;
  }

  // Of what leaves the selection the client is told the last state that it knew, at the revision of
  // the change. False: that state is forgotten already, and the client must begin anew.
  bool Tell(std::string& out, const port::Event& event) {
    const std::string_view type = plan_.filter->TypeOf(event);
    const port::Object& object = event.object;
    if (type != "DELETED" || event.type == port::Event::Type::kDeleted) {
      AppendEvent(out, type, object);
      return true;
    }
    const auto before = store_.List({.kind = object.key.kind,
                                     .space = object.key.space,
                                     .at = object.revision - 1,
                                     .facet = "f:metadata.name=" + object.key.name});
    if (!before && before.error().kind == base::Kind::kExpired) return false;
    const bool known = before && before->objects.size() == 1;
    port::Object last = known ? before->objects.front() : object;
    last.revision = object.revision;
    AppendEvent(out, type, last);
    return true;
  }

  void AppendEvent(std::string& out, std::string_view type, const port::Object& object) {
    sent_ = std::max(sent_, object.revision);
    out.append(R"({"type":")").append(type).append(R"(","object":)");
    const Form& form = plan_.presentation.form;
    if (form.shape == Form::Shape::kWhole) {
      AppendObject(out, object);
    } else if (form.shape == Form::Shape::kPartial) {
      AppendPartial(out, object, form.version);
    } else {
      AppendTable(out, object.revision);
      AppendRow(out, kind_, object, plan_.presentation.include, form.version, now_());
      out.append("]}");
    }
    out.append("}\n");
  }

  // The columns stand in the first event only.
  void AppendTable(std::string& out, port::Revision revision) {
    out += fmt::format(
        R"({{"kind":"Table","apiVersion":"meta.k8s.io/{}","metadata":{{"resourceVersion":"{}"}},)"
        R"("columnDefinitions":{},"rows":[)",
        plan_.presentation.form.version, revision,
        columns_sent_ ? "null" : json::serialize(ColumnDefinitions(kind_)));
    columns_sent_ = true;
  }

  void AppendBookmark(std::string& out, bool initial_end) {
    bookmark_ = Clock::now() + kBookmarkEvery;
    json::object metadata{{"resourceVersion", std::to_string(sent_)},
                          {"creationTimestamp", nullptr}};
    if (initial_end) metadata["annotations"] = {{"k8s.io/initial-events-end", "true"}};
    const Form& form = plan_.presentation.form;
    json::object object;
    if (form.shape == Form::Shape::kWhole) {
      object["kind"] = kind_.kind;
      object["apiVersion"] = kind_.group.empty() ? std::string(kind_.version)
                                                 : fmt::format("{}/{}", kind_.group, kind_.version);
      object["metadata"] = std::move(metadata);
    } else {
      const json::object partial{{"kind", "PartialObjectMetadata"},
                                 {"apiVersion", "meta.k8s.io/" + form.version},
                                 {"metadata", metadata}};
      object = partial;
      if (form.shape == Form::Shape::kTable) {
        object = {
            {"kind", "Table"},
            {"apiVersion", "meta.k8s.io/" + form.version},
            {"metadata", {{"resourceVersion", std::to_string(sent_)}}},
            {"columnDefinitions", nullptr},
            {"rows", json::array{json::object{{"cells", json::array()}, {"object", partial}}}}};
      }
    }
    out +=
        json::serialize(json::object{{"type", "BOOKMARK"}, {"object", std::move(object)}}) + "\n";
  }

  const Kind& kind_;
  Plan plan_;
  const std::function<base::Instant()> now_;
  const port::Store& store_;
  Watchers& watchers_;
  const std::shared_ptr<Sink> sink_;
  port::Revision sent_;
  const Clock::time_point ends_;
  Clock::time_point bookmark_;
  std::size_t replayed_ = 0;
  bool columns_sent_ = false;
  bool broken_ = false;
};

Outcome<std::chrono::milliseconds> LengthOf(const Request& request, const World& world) {
  const std::string text = request.query.Get("timeoutSeconds");
  if (text.empty() || text == "0") {
    // Spread, so that all watches of a busy hour do not end in one second.
    base::Random random(static_cast<std::uint64_t>(world.now().unix_ms));
    return std::chrono::milliseconds(random.Between(1'800'000, 3'600'000));
  }
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || seconds < 0) {
    return Refuse(BadRequest(fmt::format("invalid timeoutSeconds: \"{}\"", text)));
  }
  return std::chrono::milliseconds(std::clamp<std::int64_t>(seconds, 1, 86'400) * 1000);
}

Problem InvalidOptions(std::string_view field, std::string_view why) {
  return Unprocessable(
      fmt::format("ListOptions.meta.k8s.io \"\" is invalid: {}: Forbidden: {}", field, why));
}

// The rules of sendInitialEvents and resourceVersionMatch, which come together or not at all.
Outcome<void> CheckWatchList(const Request& request) {
  const bool initial = request.query.Has("sendInitialEvents");
  const std::string match = request.query.Get("resourceVersionMatch");
  if (initial && match != "NotOlderThan") {
    return Refuse(
        InvalidOptions("resourceVersionMatch",
                       "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  }
  if (!initial && !match.empty()) {
    return Refuse(InvalidOptions("resourceVersionMatch",
                                 "resourceVersionMatch is forbidden for watch unless "
                                 "sendInitialEvents is provided"));
  }
  if (initial && request.query.Flag("sendInitialEvents") &&
      !request.query.Flag("allowWatchBookmarks")) {
    return Refuse(
        InvalidOptions("allowWatchBookmarks", "sendInitialEvents requires allowWatchBookmarks"));
  }
  return {};
}

Problem TooOld(port::Revision asked, const World& world) {
  return Expired(fmt::format("too old resource version: {} ({})", asked, world.store.Oldest()));
}

// All objects of the selection now.
Outcome<void> ReadInitial(const Kind& kind, Plan& plan, const World& world) {
  plan.initial.emplace(
      world.store, port::ListQuery{.kind = std::string(kind.storage), .space = plan.filter->space},
      plan.filter->selection);
  const auto begun = plan.initial->Begin();
  if (!begun) return Refuse(FromError(begun.error(), kind, ""));
  plan.from = plan.initial->revision();
  return {};
}

// What happened behind the revision that the client has.
Outcome<void> ReadHistory(const Kind& kind, port::Revision from, Plan& plan, const World& world) {
  port::Revision reached = from;
  bool too_many = false;
  std::vector<Sink::Entry> entries;
  bool open = true;
  std::mutex mutex;  // later commits call back on their own thread until the watch is gone
  auto watch = world.store.Follow(
      std::string(kind.storage), from,
      [&](const std::vector<port::Event>& events, port::Revision newest) {
        const std::lock_guard lock(mutex);
        if (!open) return;
        const auto batch = std::make_shared<const std::vector<port::Event>>(events);
        for (std::size_t i = 0; i < batch->size(); ++i) {
          if (plan.filter->TypeOf((*batch)[i]).empty()) continue;
          too_many = too_many || entries.size() == kReplayedEvents;
          if (!too_many) entries.push_back({batch, i});
        }
        reached = std::max(reached, newest);
      });
  if (!watch) {
    if (watch.error().kind == base::Kind::kExpired) return Refuse(TooOld(from, world));
    return Refuse(FromError(watch.error(), kind, ""));
  }
  {
    const std::lock_guard lock(mutex);
    open = false;
  }
  watch->reset();
  if (too_many) return Refuse(TooOld(from, world));
  plan.replay = std::move(entries);
  plan.from = reached;
  return {};
}

Outcome<Plan> PlanOf(const Request& request, const Route& route, const World& world) {
  Plan plan;
  auto presentation = PresentationOf(request);
  if (!presentation) return Refuse(presentation.error());
  plan.presentation = *presentation;
  auto selection = Selection::Of(request, *route.kind);
  if (!selection) return Refuse(selection.error());
  if (!route.name.empty()) {  // watch of one object by its path
    Request named;
    named.query.Set("fieldSelector", "metadata.name=" + route.name);
    selection = Selection::Of(named, *route.kind);
    if (!selection) return Refuse(selection.error());
  }
  plan.filter = std::make_shared<const Filter>(Filter{route.space, *std::move(selection)});
  if (const auto checked = CheckWatchList(request); !checked) return Refuse(checked.error());
  plan.bookmarks = request.query.Flag("allowWatchBookmarks");
  const auto lasts = LengthOf(request, world);
  if (!lasts) return Refuse(lasts.error());
  plan.lasts = *lasts;
  return plan;
}

}  // namespace

Response Watch(const Request& request, const Route& route, const World& world, Watchers& watchers) {
  auto plan = PlanOf(request, route, world);
  if (!plan) return ToResponse(plan.error());
  const auto revision = RevisionOf(request);
  if (!revision) return ToResponse(revision.error());
  if (*revision && **revision > world.store.Newest()) {
    return ToResponse(TooLargeRevision(**revision, world.store.Newest()));
  }
  // The sink first: what is committed while the past is read waits in it.
  auto sink = std::make_shared<Sink>(
      [filter = plan->filter](const port::Event& event) { return !filter->TypeOf(event).empty(); },
      kBufferedEvents);
  const std::string storage(route.kind->storage);
  if (auto registered = watchers.Register(storage, sink); !registered) {
    return ToResponse(FromError(registered.error(), *route.kind, ""));
  }
  const bool listed = request.query.Flag("sendInitialEvents");
  plan->initial_end = listed;
  const bool from_now = listed || (!*revision && !request.query.Has("sendInitialEvents"));
  Outcome<void> read;
  if (from_now) {
    read = ReadInitial(*route.kind, *plan, world);
  } else {
    read = ReadHistory(*route.kind, *revision ? **revision : world.store.Newest(), *plan, world);
  }
  if (!read) {
    watchers.Remove(storage, sink);
    return ToResponse(read.error());
  }
  Response response;
  response.stream = std::make_unique<WatchStream>(*route.kind, *std::move(plan), world, watchers,
                                                  std::move(sink));
  return response;
}

}  // namespace pondage::api

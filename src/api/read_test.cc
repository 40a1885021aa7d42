// Reads and watches through the API, without a transport.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/test_server.h"

namespace pondage::api {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";

class Reads : public ::testing::Test, protected TestApi {
 protected:
  port::Revision PutMap(const std::string& name, const std::string& value,
                        const std::string& label = "a", const std::string& space = "default") {
    return Put("", "configmaps",
               json::object{{"apiVersion", "v1"},
                            {"kind", "ConfigMap"},
                            {"metadata",
                             {{"name", name},
                              {"namespace", space},
                              {"uid", "u-" + name},
                              {"labels", {{"app", label}}}}},
                            {"data", {{"v", value}}}});
  }
  std::vector<std::string> Names(const json::value& list) {
    std::vector<std::string> names;
    for (const auto& item : list.at("items").as_array()) {
      names.emplace_back(item.at("metadata").at("name").as_string());
    }
    return names;
  }
  // The events of a watch up to now: "ADDED a 7".
  std::vector<std::string> Events(Stream& stream) {
    std::string out;
    open = Drain(stream, out);
    std::vector<std::string> events;
    for (std::size_t at = 0; at < out.size();) {
      const auto end = out.find('\n', at);
      const json::value event = json::parse(out.substr(at, end - at));
      const json::object& object = event.at("object").as_object();
      std::string name = TextAt(object, "metadata.name");
      if (At(object, "metadata.annotations")) name = "end";
      events.push_back(std::string(event.at("type").as_string()) + " " + name + " " +
                       TextAt(object, "metadata.resourceVersion"));
      at = end + 1;
    }
    return events;
  }
  std::unique_ptr<Stream> WatchOf(const std::string& query) {
    Response response = Ask("GET", std::string(kMaps) + "?watch=1" + query);
    EXPECT_EQ(response.status, 200) << response.body;
    return std::move(response.stream);
  }
  // As a session does it: each piece is sent before the next.
  static Stream::Next FillOnce(Stream& stream, std::string& out) {
    std::string piece;
    const auto next = stream.Fill(piece);
    out += piece;
    return next;
  }
  static int Occurrences(const std::string& text, const std::string& of) {
    int count = 0;
    for (auto at = text.find(of); at != std::string::npos; at = text.find(of, at + 1)) ++count;
    return count;
  }
  static std::string S(port::Revision revision) { return std::to_string(revision); }
  using Strings = std::vector<std::string>;
  bool open = true;
};

TEST_F(Reads, GetSplicesTheRevisionIn) {
  const auto revision = PutMap("m", "1");
  const json::value map = Json(Ask("GET", std::string(kMaps) + "/m"));
  EXPECT_EQ(map.at("metadata").at("resourceVersion"), json::value(S(revision)));
  EXPECT_EQ(map.at("data").at("v"), "1");
  EXPECT_EQ(Ask("GET", std::string(kMaps) + "/none").status, 404);
  EXPECT_EQ(Ask("GET", std::string(kMaps) + "/m", "", "", "text/html").status, 406);
}

TEST_F(Reads, PagesShowTheStateOfTheFirst) {
  for (const char* name : {"a", "b", "c", "d", "e"}) PutMap(name, "1");
  const json::value first = Json(Ask("GET", std::string(kMaps) + "?limit=2"));
  EXPECT_EQ(Names(first), (Strings{"a", "b"}));
  EXPECT_EQ(first.at("metadata").at("remainingItemCount"), 3);
  PutMap("bb", "new");
  const std::string token(first.at("metadata").at("continue").as_string());
  const json::value second = Json(Ask("GET", std::string(kMaps) + "?limit=2&continue=" + token));
  EXPECT_EQ(Names(second), (Strings{"c", "d"}));
  EXPECT_EQ(second.at("metadata").at("resourceVersion"),
            first.at("metadata").at("resourceVersion"));
  const std::string next(second.at("metadata").at("continue").as_string());
  const json::value last = Json(Ask("GET", std::string(kMaps) + "?limit=2&continue=" + next));
  EXPECT_EQ(Names(last), (Strings{"e"}));
  EXPECT_FALSE(last.at("metadata").as_object().contains("continue"));
  EXPECT_EQ(Ask("GET", std::string(kMaps) + "?limit=2&continue=rubbish").status, 400);
  EXPECT_EQ(Ask("GET", std::string(kMaps) + "?continue=" + next + "&resourceVersion=3").status,
            400);
  store.CompactTo(store.Newest());
  const Response expired = Ask("GET", std::string(kMaps) + "?limit=2&continue=" + token);
  EXPECT_EQ(expired.status, 410);
  EXPECT_THAT(expired.body, HasSubstr("\"Expired\""));
}

TEST_F(Reads, PagesWithASelectionSkipNothing) {
  for (int i = 0; i < 9; ++i) PutMap("m" + std::to_string(i), "1", i % 2 == 0 ? "even" : "odd");
  Strings seen;
  std::string token;
  do {
    const json::value page =
        Json(Ask("GET", std::string(kMaps) + "?limit=2&labelSelector=app!=odd&continue=" + token));
    EXPECT_LE(Names(page).size(), 2U);
    for (auto& name : Names(page)) seen.push_back(name);
    const auto* next = page.at("metadata").as_object().if_contains("continue");
    token = next ? std::string(next->as_string()) : "";
  } while (!token.empty());
  EXPECT_EQ(seen, (Strings{"m0", "m2", "m4", "m6", "m8"}));
}

TEST_F(Reads, RevisionsOfLists) {
  const auto first = PutMap("a", "1");
  PutMap("b", "1");
  struct Row {
    std::string query;
    int status;
    std::size_t items;
  };
  for (const Row& row : {
           Row{"", 200, 2},
           Row{"?resourceVersion=0", 200, 2},
           Row{"?resourceVersion=" + S(first), 200, 2},
           Row{"?resourceVersion=" + S(first) + "&limit=5", 200, 1},
           Row{"?resourceVersion=" + S(first) + "&resourceVersionMatch=Exact", 200, 1},
           Row{"?resourceVersion=" + S(first) + "&resourceVersionMatch=NotOlderThan", 200, 2},
           Row{"?resourceVersion=0&resourceVersionMatch=Exact", 422, 0},
           Row{"?resourceVersionMatch=Exact", 422, 0},
           Row{"?resourceVersion=1&resourceVersionMatch=Other", 422, 0},
           Row{"?resourceVersion=99999", 504, 0},
           Row{"?resourceVersion=x", 400, 0},
           Row{"?limit=x", 400, 0},
           Row{"?sendInitialEvents=true", 422, 0},
           Row{"?labelSelector=a+in", 400, 0},
       }) {
    Response response = Ask("GET", kMaps + row.query);
    EXPECT_EQ(response.status, row.status) << row.query;
    if (response.status == 200) {
      EXPECT_EQ(Names(Json(std::move(response))).size(), row.items) << row.query;
    }
  }
}

TEST_F(Reads, TablesAndMetadata) {
  PutMap("m", "1");
  const char* table = "application/json;as=Table;v=v1;g=meta.k8s.io";
  const json::value rows = Json(Ask("GET", kMaps, "", "", table));
  EXPECT_EQ(rows.at("kind"), "Table");
  EXPECT_EQ(rows.at("rows").at(0).at("object").at("kind"), "PartialObjectMetadata");
  EXPECT_FALSE(rows.at("rows").at(0).at("object").as_object().contains("data"));
  const json::value whole =
      Json(Ask("GET", std::string(kMaps) + "/m?includeObject=Object", "", "", table));
  EXPECT_EQ(whole.at("rows").at(0).at("object").at("data").at("v"), "1");
  const json::value none =
      Json(Ask("GET", std::string(kMaps) + "?includeObject=None", "", "", table));
  EXPECT_FALSE(none.at("rows").at(0).as_object().contains("object"));
  const json::value partial = Json(Ask(
      "GET", kMaps, "", "", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"));
  EXPECT_EQ(partial.at("kind"), "PartialObjectMetadataList");
  EXPECT_EQ(Names(partial), (Strings{"m"}));
}

TEST_F(Reads, TenThousandStreamInPieces) {
  for (int i = 0; i < 10'000; ++i) PutMap("m" + std::to_string(i), "1");
  Response response = Ask("GET", kMaps);
  ASSERT_TRUE(response.stream);
  std::string all;
  std::size_t largest = 0;
  for (;;) {
    std::string piece;
    const auto next = response.stream->Fill(piece);
    largest = std::max(largest, piece.size());
    all += piece;
    if (next == Stream::Next::kEnd) break;
  }
  EXPECT_LT(largest, 200'000U);
  EXPECT_EQ(json::parse(all).at("items").as_array().size(), 10'000U);
}

// However long a client takes to read it, and whatever is written meanwhile.
TEST_F(Reads, ALongListIsOneState) {
  constexpr int kMany = 2'000;
  const auto name = [](int i) { return "m" + std::to_string(10'000 + i); };
  for (int i = 0; i < kMany; ++i) PutMap(name(i), "old", i % 2 ? "odd" : "even");
  const port::Revision then = store.Newest();
  const std::string table = "application/json;as=Table;v=v1;g=meta.k8s.io";
  const std::string initial =
      "watch=1&sendInitialEvents=1&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1";
  struct Reading {
    std::string query, accept, out;
    std::unique_ptr<Stream> stream;
    bool more = true;
  };
  std::vector<Reading> readings;
  for (const char* query : {"", "limit=1500", "labelSelector=app=odd", "limit=700",
                            "labelSelector=app=odd,app!=x&limit=500"}) {
    for (const std::string& accept : {std::string(), table}) readings.push_back({query, accept});
  }
  readings.push_back({initial, ""});
  for (Reading& reading : readings) {
    Response response =
        Ask("GET", std::string(kMaps) + "?" + reading.query, "", "", reading.accept);
    ASSERT_EQ(response.status, 200) << response.body;
    reading.stream = std::move(response.stream);
  }
  for (int step = 0; step < kMany; ++step) {
    for (Reading& reading : readings) {
      if (reading.more && step % 50 == 0) {
        const auto next = FillOnce(*reading.stream, reading.out);
        ASSERT_NE(next, Stream::Next::kBroken);
        reading.more = next == Stream::Next::kMore;
      }
    }
    if (step % 3 == 0) PutMap(name(step), "new", "changed");
    if (step % 3 == 1) Ask("DELETE", std::string(kMaps) + "/" + name(step));
    if (step % 3 == 2) PutMap("added" + std::to_string(step), "new", "odd");
  }
  for (Reading& reading : readings) {
    if (reading.query == initial) {  // what comes behind the mark is news
      reading.out.resize(std::min(reading.out.size(), reading.out.find("initial-events-end")));
      EXPECT_EQ(Occurrences(reading.out, R"("type":"ADDED")"), kMany);
    } else {
      while (reading.more)
        reading.more = FillOnce(*reading.stream, reading.out) == Stream::Next::kMore;
      const json::value list = json::parse(reading.out);
      EXPECT_EQ(list.at("metadata").at("resourceVersion"), json::value(S(then)));
      const auto& items = list.at(reading.accept.empty() ? "items" : "rows").as_array();
      const bool odd = reading.query.contains("odd");
      const auto at = reading.query.find("limit=");
      const auto whole = static_cast<std::size_t>(odd ? kMany / 2 : kMany);
      const std::size_t limit =
          at == std::string::npos ? whole : std::stoul(reading.query.substr(at + 6));
      EXPECT_EQ(items.size(), limit) << reading.query;
      const json::object& metadata = list.at("metadata").as_object();
      EXPECT_EQ(metadata.contains("continue"), limit < whole) << reading.query;
      EXPECT_EQ(metadata.contains("remainingItemCount"), !odd && limit < whole) << reading.query;
      if (!odd && limit < whole) {
        EXPECT_EQ(metadata.at("remainingItemCount"), whole - limit);
      }
    }
    EXPECT_EQ(reading.out.find("\"new\""), std::string::npos) << reading.query;
    EXPECT_EQ(reading.out.find("added"), std::string::npos) << reading.query;
  }
}

// A reader so slow that its state is forgotten is told so, not given half for the whole.
TEST_F(Reads, AListWhoseStateIsForgottenBreaksOff) {
  for (int i = 0; i < 2'000; ++i) PutMap("m" + std::to_string(i), std::string(1'000, 'v'));
  for (const char* query : {"", "?watch=1"}) {
    Response response = Ask("GET", std::string(kMaps) + query);
    std::string out;
    EXPECT_EQ(FillOnce(*response.stream, out), Stream::Next::kMore);
    PutMap("m1", "new");
    store.CompactTo(store.Newest());
    Stream::Next next = Stream::Next::kMore;
    while (next == Stream::Next::kMore) next = FillOnce(*response.stream, out);
    EXPECT_EQ(next, Stream::Next::kBroken) << query;
  }
}

TEST_F(Reads, WatchTellsWhatCameAfter) {
  const auto first = PutMap("a", "1");
  const auto second = PutMap("b", "1");
  const auto stream = WatchOf("&resourceVersion=" + S(first));
  EXPECT_EQ(Events(*stream), (Strings{"ADDED b " + S(second)}));
  const auto third = PutMap("b", "2");
  PutMap("elsewhere", "1", "a", "team");
  EXPECT_EQ(Events(*stream), (Strings{"MODIFIED b " + S(third)}));
  Ask("DELETE", std::string(kMaps) + "/a");
  EXPECT_EQ(Events(*stream), (Strings{"DELETED a " + S(store.Newest())}));
  EXPECT_TRUE(open);
  EXPECT_TRUE(stream->Live());
}

TEST_F(Reads, WatchWithoutARevisionBeginsWithWhatIsThere) {
  const auto first = PutMap("a", "1");
  const auto stream = WatchOf("");
  EXPECT_EQ(Events(*stream), (Strings{"ADDED a " + S(first)}));
  const auto second = PutMap("b", "1");
  EXPECT_EQ(Events(*stream), (Strings{"ADDED b " + S(second)}));
}

TEST_F(Reads, WatchSeesObjectsEnterAndLeaveItsSelection) {
  PutMap("a", "1", "other");
  const auto stream = WatchOf("&labelSelector=app=mine&resourceVersion=" + S(store.Newest()));
  PutMap("a", "2", "other");
  EXPECT_EQ(Events(*stream), Strings{});
  auto at = PutMap("a", "2", "mine");
  EXPECT_EQ(Events(*stream), (Strings{"ADDED a " + S(at)}));
  at = PutMap("a", "3", "mine");
  EXPECT_EQ(Events(*stream), (Strings{"MODIFIED a " + S(at)}));
  at = PutMap("a", "4", "other");
  EXPECT_EQ(Events(*stream), (Strings{"DELETED a " + S(at)}));
  Ask("DELETE", std::string(kMaps) + "/a");
  EXPECT_EQ(Events(*stream), Strings{});
}

// Live, from history, and for those who ask for rows: what leaves is told as it was.
TEST_F(Reads, WhatLeavesASelectionIsToldAsTheClientKnewIt) {
  PutMap("b", "of another", "mine");
  PutMap("a", "known", "mine", "team");
  const auto from = PutMap("a", "known", "mine");
  const std::string query = "?watch=1&labelSelector=app=mine&resourceVersion=" + S(from);
  std::string live;
  const Response early = Ask("GET", std::string(kMaps) + query);
  PutMap("a", "not for it", "other");
  const auto left = store.Newest();
  PutMap("a", "not for it either", "other");
  RunTasks();
  Drain(*early.stream, live);
  std::string replayed;
  const Response late = Ask("GET", std::string(kMaps) + query);
  Drain(*late.stream, replayed);
  for (const std::string& text : {live, replayed}) {
    ASSERT_EQ(std::ranges::count(text, '\n'), 1) << text;
    const json::value event = json::parse(text);
    EXPECT_EQ(event.at("type"), "DELETED");
    const json::object& object = event.at("object").as_object();
    EXPECT_EQ(TextAt(object, "data.v"), "known");
    EXPECT_EQ(TextAt(object, "metadata.labels.app"), "mine");
    EXPECT_EQ(TextAt(object, "metadata.namespace"), "default");
    EXPECT_EQ(TextAt(object, "metadata.resourceVersion"), S(left));
  }
  const Response rows = Ask("GET", std::string(kMaps) + query, "", "",
                            "application/json;as=Table;v=v1;g=meta.k8s.io,application/json");
  std::string table;
  Drain(*rows.stream, table);
  EXPECT_THAT(table, HasSubstr(R"("labels":{"app":"mine"})"));
}

TEST_F(Reads, WatchWhoseEarlierStateIsForgottenEnds) {
  const auto from = PutMap("a", "known", "mine");
  Response response =
      Ask("GET", std::string(kMaps) + "?watch=1&labelSelector=app=mine&resourceVersion=" + S(from));
  PutMap("a", "new", "other");
  store.CompactTo(store.Newest());
  RunTasks();
  std::string out;
  EXPECT_EQ(response.stream->Fill(out), Stream::Next::kEnd);
  EXPECT_EQ(out, "");
}

TEST_F(Reads, WatchListEndsItsFirstPartWithABookmark) {
  const auto first = PutMap("a", "1");
  const auto stream =
      WatchOf("&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
  EXPECT_EQ(Events(*stream), (Strings{"ADDED a " + S(first), "BOOKMARK end " + S(store.Newest())}));
  const auto second = PutMap("b", "1");
  EXPECT_EQ(Events(*stream), (Strings{"ADDED b " + S(second)}));
  for (const char* query : {"&sendInitialEvents=true", "&resourceVersionMatch=NotOlderThan",
                            "&sendInitialEvents=true&resourceVersionMatch=Exact"}) {
    EXPECT_EQ(Ask("GET", std::string(kMaps) + "?watch=1" + query).status, 422) << query;
  }
}

TEST_F(Reads, WatchEndsWithABookmarkOfAllThatPassedBy) {
  const auto stream =
      WatchOf("&timeoutSeconds=1&allowWatchBookmarks=true&resourceVersion=" + S(store.Newest()));
  PutMap("elsewhere", "1", "a", "team");
  Strings events;
  while (open) {
    for (auto& event : Events(*stream)) events.push_back(event);
  }
  EXPECT_EQ(events, (Strings{"BOOKMARK  " + S(store.Newest())}));
}

TEST_F(Reads, WatchOfThePastIsExpired) {
  const auto first = PutMap("a", "1");
  PutMap("a", "2");
  store.CompactTo(store.Newest());
  const Response response = Ask("GET", std::string(kMaps) + "?watch=1&resourceVersion=" + S(first));
  EXPECT_EQ(response.status, 410);
  EXPECT_THAT(response.body, HasSubstr("too old resource version: " + S(first)));
}

TEST_F(Reads, AWatcherThatDoesNotReadIsDropped) {
  const auto slow = WatchOf("&resourceVersion=" + S(store.Newest()));
  const auto quick = WatchOf("&resourceVersion=" + S(store.Newest()));
  std::size_t seen = 0;
  for (int commit = 0; commit < 11; ++commit) {
    port::Batch batch;
    for (int i = 0; i < 1000; ++i) {
      batch.changes.push_back(ChangeOf(
          *manifest::FindKind("", "configmaps"),
          json::object{
              {"metadata",
               {{"name", "m" + std::to_string(commit * 1000 + i)}, {"namespace", "default"}}}}));
    }
    ASSERT_TRUE(store.Commit(batch));
    RunTasks();
    seen += Events(*quick).size();
  }
  EXPECT_EQ(seen, 11'000U);
  EXPECT_TRUE(open);
  EXPECT_EQ(Events(*slow), Strings{});
  EXPECT_FALSE(open);
}

TEST_F(Reads, AThousandWatchersSeeEachChangeAndCostTheWriterOneTask) {
  std::vector<std::unique_ptr<Stream>> streams;
  for (int i = 0; i < 1000; ++i)
    streams.push_back(WatchOf("&resourceVersion=" + S(store.Newest())));
  EXPECT_EQ(watchers.count(), 1000U);
  const auto at = PutMap("a", "1");
  EXPECT_EQ(tasks.size(), 1U);
  for (const auto& stream : streams) EXPECT_EQ(Events(*stream), (Strings{"ADDED a " + S(at)}));
  streams.clear();
  EXPECT_EQ(watchers.count(), 0U);
}

TEST_F(Reads, WatchOfTables) {
  Response response =
      Ask("GET", std::string(kMaps) + "?watch=1&resourceVersion=" + S(store.Newest()), "", "",
          "application/json;as=Table;v=v1;g=meta.k8s.io");
  PutMap("a", "1");
  PutMap("b", "1");
  std::string out;
  Drain(*response.stream, out);
  const json::value first = json::parse(out.substr(0, out.find('\n')));
  const json::value second = json::parse(out.substr(out.find('\n') + 1));
  EXPECT_EQ(first.at("object").at("kind"), "Table");
  EXPECT_TRUE(first.at("object").at("columnDefinitions").is_array());
  EXPECT_TRUE(second.at("object").at("columnDefinitions").is_null());
  EXPECT_EQ(second.at("object").at("rows").at(0).at("cells").at(0), "b");
}

}  // namespace
}  // namespace pondage::api

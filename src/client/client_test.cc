#include "client/client.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "client/fake_server_test.h"
#include "client/kube.h"

namespace pondage::client {
namespace {

using namespace std::chrono_literals;

ServerPlace PlaceOf(const FakeServer& server) {
  ServerPlace place = *ParseServerUrl(server.url());
  place.token = "t0ken";
  place.origin = "the test";
  return place;
}

TEST(Client, AsksAndIsAnswered) {
  FakeServer server([](const Asked& asked) {
    return Said{asked.method == "POST" ? 201 : 200, R"({"a":1})", {}, {}, false};
  });
  Client client(PlaceOf(server), 5s);
  EXPECT_EQ(client.Get("/x?y=1")->at("a"), 1);
  EXPECT_TRUE(client.Post("/x", json::object{{"b", 2}}));
  EXPECT_TRUE(client.MergePatch("/x", json::object{{"b", nullptr}}));
  EXPECT_TRUE(client.Delete("/x"));
  const auto asked = server.asked();
  ASSERT_EQ(asked.size(), 4u);
  EXPECT_EQ(asked[0].token, "Bearer t0ken");
  EXPECT_EQ(asked[0].target, "/x?y=1");
  EXPECT_EQ(asked[1].body, R"({"b":2})");
  EXPECT_EQ(asked[2].content_type, "application/merge-patch+json");
  EXPECT_EQ(asked[3].method, "DELETE");
}

TEST(Client, ErrorsCarryTheServersWords) {
  struct Row {
    int status;
    std::string body;
    base::Kind kind;
    std::string_view id, message;
  };
  const Row rows[] = {
      {404, R"({"kind":"Status","message":"tfjobs \"x\" not found","reason":"NotFound"})",
       base::Kind::kNotFound, "PND-C008", "tfjobs \"x\" not found"},
      {409, R"({"message":"exists","reason":"AlreadyExists"})", base::Kind::kAlreadyExists,
       "PND-C007", "exists"},
      {409, R"({"message":"modified","reason":"Conflict"})", base::Kind::kConflict, "PND-C007",
       "modified"},
      {401, R"({"message":"Unauthorized"})", base::Kind::kForbidden, "PND-C004", "Unauthorized"},
      {403, R"({"message":"no"})", base::Kind::kForbidden, "PND-C005", "no"},
      {422, R"x({"message":"bad: no environment (PND-E001)"})x", base::Kind::kInvalid, "PND-E001",
       "bad: no environment"},
      {422, R"({"message":"bad","details":{"causes":[{"reason":"PND-J004"}]}})",
       base::Kind::kInvalid, "PND-J004", "bad"},
      {410, R"({"message":"too old"})", base::Kind::kExpired, "PND-C009", "too old"},
      {503, R"({"message":"later"})", base::Kind::kUnavailable, "PND-C013", "later"},
      {404, "404 page not found\n", base::Kind::kNotFound, "PND-C008",
       "the server answered 404: 404 page not found\n"},
  };
  for (const Row& row : rows) {
    const base::Error error = ErrorOf(row.status, row.body, "/x");
    EXPECT_EQ(error.kind, row.kind) << row.body;
    EXPECT_EQ(error.id, row.id) << row.body;
    EXPECT_EQ(error.message, row.message);
  }
}

TEST(Client, AnAnswerThatIsNoJsonIsAnError) {
  FakeServer server([](const Asked&) { return Said{200, "<html>", {}, {}, false}; });
  Client client(PlaceOf(server), 5s);
  const auto answer = client.Get("/x");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().id, "PND-C012");
}

TEST(Client, WarningsAreKept) {
  FakeServer server([](const Asked&) {
    return Said{200, "{}", {"Warning: 299 - \"unknown field \\\"spec.foo\\\"\""}, {}, false};
  });
  Client client(PlaceOf(server), 5s);
  ASSERT_TRUE(client.Get("/x"));
  EXPECT_EQ(client.TakeWarnings(), (std::vector<std::string>{"unknown field \"spec.foo\""}));
  EXPECT_TRUE(client.TakeWarnings().empty());
}

TEST(Client, NobodyListens) {
  ServerPlace place;
  {
    FakeServer server([](const Asked&) { return Said{}; });
    place = PlaceOf(server);
  }
  Client client(place, 5s);
  const auto answer = client.Get("/x");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().id, "PND-C001");
  EXPECT_NE(answer.error().message.find("its address comes from the test"), std::string::npos);
}

TEST(Client, ASilentServerIsGivenUp) {
  std::atomic<bool> done = false;
  FakeServer server([&](const Asked&) {
    while (!done) std::this_thread::yield();
    return Said{};
  });
  Client client(PlaceOf(server), 150ms);
  const auto answer = client.Get("/x");
  done = true;
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().id, "PND-C006");
}

// The server may have done what was asked before the connection broke: only what changes nothing is
// sent again by itself.
TEST(Client, WhatMayHaveBeenDoneIsNotSentTwice) {
  std::atomic<bool> breaks = false;
  FakeServer server([&](const Asked&) { return Said{200, "{}", {}, {}, false, breaks}; });
  const auto times = [&](const std::string& method) {
    return std::ranges::count(server.asked(), method, &Asked::method);
  };
  Client client(PlaceOf(server), 5s);
  ASSERT_TRUE(client.Get("/first"));
  breaks = true;
  const auto posted = client.Post("/x", json::object());
  ASSERT_FALSE(posted);
  EXPECT_EQ(posted.error().id, "PND-C023");
  EXPECT_EQ(posted.error().kind, base::Kind::kUnavailable);
  EXPECT_EQ(times("POST"), 1);
  breaks = false;
  ASSERT_TRUE(client.Get("/second"));
  breaks = true;
  EXPECT_FALSE(client.Get("/third"));
  EXPECT_EQ(times("GET"), 4) << "the third twice: on the kept connection and on a fresh one";
}

TEST(Client, AKeptConnectionThatTheServerClosedIsMadeAnew) {
  FakeServer server(
      [](const Asked& asked) { return Said{200, "{}", {}, {}, asked.target == "/last"}; });
  Client client(PlaceOf(server), 5s);
  ASSERT_TRUE(client.Get("/last"));
  server.AwaitEnds(1);
  EXPECT_TRUE(client.Post("/x", json::object()));
  EXPECT_EQ(server.asked().size(), 2U);
}

TEST(Client, LinesComeAcrossChunks) {
  FakeServer server(
      [](const Asked&) { return Said{200, "", {}, {"one\ntw", "o\n", "\nlast"}, false}; });
  Client client(PlaceOf(server), 5s);
  std::vector<std::string> lines;
  bool whole_last = true;
  ASSERT_TRUE(client.Lines("/log",
                           [&](std::string_view line, bool whole) {
                             lines.emplace_back(line);
                             whole_last = whole;
                             return true;
                           },
                           {}));
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two", "", "last"}));
  EXPECT_FALSE(whole_last) << "the last one had no end";
}

TEST(Client, AStreamEndsWhenNoMoreIsWanted) {
  FakeServer server([](const Asked&) { return Said{200, "", {}, {"1\n2\n3\n"}, false}; });
  Client client(PlaceOf(server), 5s);
  int seen = 0;
  ASSERT_TRUE(client.Lines("/log", [&](std::string_view, bool) { return ++seen < 2; }, {}));
  EXPECT_EQ(seen, 2);
}

TEST(Client, ATornStreamIsAnErrorBehindWhatCame) {
  FakeServer server([](const Asked&) { return Said{200, "", {}, {"1\n"}, true}; });
  Client client(PlaceOf(server), 5s);
  int seen = 0;
  const auto outcome = client.Lines("/log", [&](std::string_view, bool) { return ++seen > 0; }, {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, base::Kind::kUnavailable);
  EXPECT_EQ(seen, 1);
}

TEST(Client, ARefusedStreamSaysWhy) {
  FakeServer server([](const Asked&) {
    return Said{400, R"({"message":"is waiting to start"})", {}, {}, false};
  });
  Client client(PlaceOf(server), 5s);
  const auto outcome = client.Bytes("/log", [](std::string_view) { return true; }, {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "is waiting to start");
}

TEST(Client, AStopEndsAStreamThatSaysNothing) {
  std::atomic<bool> done = false;
  FakeServer server([&](const Asked&) {
    while (!done) std::this_thread::yield();
    return Said{};
  });
  Client client(PlaceOf(server), 5s);
  std::stop_source stop;
  std::jthread stopper([&] {
    while (server.asked().empty()) std::this_thread::yield();
    stop.request_stop();
  });
  EXPECT_TRUE(client.Bytes("/log", [](std::string_view) { return true; }, stop.get_token()));
  done = true;
}

TEST(Kube, ListsPageByPage) {
  FakeServer server([](const Asked& asked) {
    const bool second = asked.target.find("continue=n%2F1") != std::string::npos;
    return Said{200,
                second ? R"({"metadata":{"resourceVersion":"9"},"items":[3]})"
                       : R"({"metadata":{"resourceVersion":"7","continue":"n/1"},"items":[1,2]})",
                {},
                {},
                false};
  });
  Client client(PlaceOf(server), 5s);
  std::string version;
  const auto all = ListAll(client, "/pods?labelSelector=a", &version);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), 3u);
  EXPECT_EQ(version, "7") << "that of the first page";
  EXPECT_EQ(server.asked()[0].target, "/pods?labelSelector=a&limit=1000");
}

std::string Event(const char* type, const char* uid, const char* version) {
  return std::string(R"({"type":")") + type + R"(","object":{"metadata":{"uid":")" + uid +
         R"(","resourceVersion":")" + version + "\"}}}\n";
}

// A first list of a and b; a watch that loses b's end when the connection breaks; a second list
// with a alone; a watch from there.
TEST(Kube, AWatchGoesOnBehindABreak) {
  std::atomic<int> lists = 0;
  FakeServer server([&](const Asked& asked) {
    if (asked.target.find("watch=true") == std::string::npos) {
      return Said{
          200,
          lists++ == 0
              ? R"({"metadata":{"resourceVersion":"5"},"items":[{"metadata":{"uid":"a"}},{"metadata":{"uid":"b"}}]})"
              : R"({"metadata":{"resourceVersion":"9"},"items":[{"metadata":{"uid":"a"}}]})",
          {},
          {},
          false};
    }
    if (asked.target.find("resourceVersion=5") != std::string::npos) {
      return Said{200, "", {}, {Event("MODIFIED", "a", "6"), R"({"type":"MODI)"}, true};
    }
    return Said{
        200,
        "",
        {},
        {Event("BOOKMARK", "", "10"), Event("ADDED", "c", "11"), Event("DELETED", "c", "12")},
        false};
  });
  Client client(PlaceOf(server), 5s);
  std::vector<std::string> seen;
  std::vector<bool> away;
  Watching watching;
  watching.on_change = [&](const Change& change) {
    seen.push_back((change.type == Change::Type::kDeleted ? "-" : "+") +
                   Text(change.object, {"metadata", "uid"}));
    return seen.back() != "-c";
  };
  watching.on_away = [&](bool is_away) { away.push_back(is_away); };
  ASSERT_TRUE(Watch(client, "/x", watching, {}));
  EXPECT_EQ(seen, (std::vector<std::string>{"+a", "+b", "+a", "+a", "-b", "+c", "-c"}));
  EXPECT_EQ(away, (std::vector<bool>{true, false}));
}

TEST(Kube, AnExpiredWatchListsAgain) {
  std::atomic<int> watches = 0;
  FakeServer server([&](const Asked& asked) {
    if (asked.target.find("watch=true") == std::string::npos)
      return Said{200, R"({"metadata":{"resourceVersion":"5"},"items":[]})", {}, {}, false};
    if (watches++ == 0)
      return Said{200,
                  "",
                  {},
                  {R"({"type":"ERROR","object":{"code":410,"message":"too old"}})"
                   "\n"},
                  false};
    return Said{200, "", {}, {Event("ADDED", "a", "6")}, false};
  });
  Client client(PlaceOf(server), 5s);
  Watching watching;
  watching.on_change = [](const Change&) { return false; };
  ASSERT_TRUE(Watch(client, "/x", watching, {}));
  EXPECT_EQ(watches, 2);
}

TEST(Kube, ARefusedWatchIsNoReasonToWait) {
  FakeServer server([](const Asked&) { return Said{403, R"({"message":"no"})", {}, {}, false}; });
  Client client(PlaceOf(server), 5s);
  Watching watching;
  watching.on_change = [](const Change&) { return true; };
  EXPECT_EQ(Watch(client, "/x", watching, {}).error().id, "PND-C005");
}

TEST(Client, PercentEncoding) {
  EXPECT_EQ(PercentEncode("a b/c:d~é"), "a%20b%2Fc%3Ad~%C3%A9");
}

}  // namespace
}  // namespace pondage::client

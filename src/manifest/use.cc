#include "manifest/use.h"

#include <limits>

#include "manifest/object.h"
#include "manifest/pod.h"
#include "manifest/trouble.h"

namespace pondage::manifest {

namespace json = boost::json;

namespace {
constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
}

json::object EncodeUses(const std::string& queue, const std::map<std::string, queue::Use>& users) {
  json::array rows;
  for (const auto& [user, use] : users) {
    rows.push_back({{"user", user}, {"milliGpuMillis", use.value}, {"atMs", use.at.unix_ms}});
  }
  return {{"metadata", json::object{{"name", queue}, {"uid", UidFrom("uses/" + queue)}}},
          {"users", std::move(rows)}};
}

json::object EncodePlanned(base::Instant at) {
  return {{"metadata", json::object{{"name", "last"}, {"uid", UidFrom("plans/last")}}},
          {"atMs", at.unix_ms}};
}

base::Result<base::Instant> DecodePlanned(std::string_view bytes) {
  TRY(const json::value value, ParseJson(bytes));
  Trouble trouble;
  const base::Instant at{Reader(&value, "", trouble).Int("atMs", 0, kMost).value_or(0)};
  if (trouble.Any()) return trouble.Fail();
  return at;
}

base::Result<std::vector<queue::Tree::UseOf>> DecodeUses(std::string_view bytes) {
  TRY(const json::value value, ParseJson(bytes));
  Trouble trouble;
  const Reader root(&value, "", trouble);
  const std::string queue = root.Object("metadata").Text("name");
  std::vector<queue::Tree::UseOf> uses;
  root.Objects("users", [&](const Reader& row) {
    uses.push_back({queue,
                    row.Text("user"),
                    {.value = row.Int("milliGpuMillis", 0, kMost).value_or(0),
                     .rate = {},
                     .at = {row.Int("atMs", 0, kMost).value_or(0)}}});
  });
  if (trouble.Any()) return trouble.Fail();
  return uses;
}

}  // namespace pondage::manifest

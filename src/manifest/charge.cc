#include "manifest/charge.h"

#include <boost/json.hpp>

#include "job/spec.h"
#include "manifest/object.h"

namespace pondage::manifest {
namespace {

std::string Text(const boost::json::object& line, std::string_view field) {
  const auto* value = line.if_contains(field);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : "";
}

std::int64_t Number(const boost::json::object& line, std::string_view field) {
  const auto* value = line.if_contains(field);
  return value != nullptr && value->is_int64() ? value->as_int64() : 0;
}

}  // namespace

std::string EncodeCharge(const ledger::Entry& entry) {
  boost::json::object line{{"job", entry.job},
                           {"uid", entry.uid},
                           {"id", entry.replica.job.value},
                           {"role", job::RoleName(entry.replica.role)},
                           {"index", entry.replica.index},
                           {"queue", entry.queue},
                           {"user", entry.user},
                           {"node", entry.node},
                           {"attempt", entry.attempt},
                           {"milliGpu", entry.gpus.value},
                           {"fromMs", entry.from.unix_ms},
                           {"toMs", entry.to.unix_ms},
                           {"image", entry.image},
                           {"environment", entry.environment},
                           {"end", entry.end}};
  return boost::json::serialize(line);
}

base::Result<ledger::Entry> DecodeCharge(std::string_view bytes) {
  TRY(const boost::json::value value, ParseJson(bytes));
  if (!value.is_object()) {
    return base::Fail(base::Kind::kCorrupt, "", "ledger", "a charge is not a JSON object");
  }
  const boost::json::object& line = value.get_object();
  const auto role = job::RoleFromName(Text(line, "role"));
  if (!role) return base::Fail(base::Kind::kCorrupt, "", "ledger", "a charge names no role");
  return ledger::Entry{.replica = {.job = {Number(line, "id")},
                                   .role = *role,
                                   .index = static_cast<std::int32_t>(Number(line, "index"))},
                       .job = Text(line, "job"),
                       .uid = Text(line, "uid"),
                       .queue = Text(line, "queue"),
                       .user = Text(line, "user"),
                       .node = Text(line, "node"),
                       .attempt = static_cast<int>(Number(line, "attempt")),
                       .gpus = {Number(line, "milliGpu")},
                       .from = {Number(line, "fromMs")},
                       .to = {Number(line, "toMs")},
                       .image = Text(line, "image"),
                       .environment = Text(line, "environment"),
                       .end = Text(line, "end")};
}

}  // namespace pondage::manifest

// Which port each replica of a job listens on: its own from the bind until the job leaves or ends.
#include <fmt/format.h>

#include <algorithm>

#include "base/random.h"
#include "phrase/phrase.h"
#include "pool/pool.h"

namespace pondage::pool {
namespace {

// So long nobody is offered a port that somebody outside the pool was found to listen on.
constexpr base::Millis kStrangersTurn{600'000};

// Named to the others by an address it has not: it finished before this bind, or was alone so far.
bool LacksAddress(const job::Spec& spec, const job::Replica& replica) {
  const auto role = spec.roles.find(replica.role);
  return replica.port == 0 && role != spec.roles.end() && replica.index < role->second.replicas;
}

}  // namespace

// One for each that is to be bound, and for each that TF_CONFIG names and that has none.
std::size_t Pool::PortsWanted(const JobView& job) const {
  if (job.spec.TotalReplicas() == 1) return 0;
  const auto members = job::WantedMembers(job.spec, job.status);
  std::size_t wanted = members.size();
  for (const job::Replica& replica : job.status.replicas) {
    const bool member =
        std::ranges::find(members, std::pair(replica.role, replica.index)) != members.end();
    if (!member && LacksAddress(job.spec, replica)) ++wanted;
  }
  return wanted;
}

// Free ports from a place that depends on job and attempt alone: a restart of the server changes
// nothing, and the next attempt does not use the set of the one before (a late old member may still
// be listening there).
std::optional<std::vector<int>> Pool::TakePorts(const JobView& job, std::size_t count,
                                                base::Instant now) const {
  std::vector<int> taken;
  const int range = settings_.last_port - settings_.first_port + 1;
  base::Random place(static_cast<std::uint64_t>(job.identity.id.value) * 1'000'003 +
                     static_cast<std::uint64_t>(job.status.attempt));
  const int from = static_cast<int>(place.Below(static_cast<std::uint64_t>(range)));
  for (int tried = 0; tried < range && taken.size() < count; ++tried) {
    const int port = settings_.first_port + (from + tried) % range;
    const auto stranger = strangers_.find(port);
    if (stranger != strangers_.end() && stranger->second > now) continue;
    if (!ports_.contains(port)) taken.push_back(port);
  }
  if (taken.size() < count) return std::nullopt;
  return taken;
}

void Pool::GivePorts(JobView& job, std::span<const int> ports) {
  for (job::Replica& replica : job.status.replicas) {
    if (ports.empty()) return;
    if (!LacksAddress(job.spec, replica)) continue;
    replica.port = ports.front();
    ports_.insert(replica.port);
    ports = ports.subspan(1);
  }
}

void Pool::FreePort(job::Replica& replica) {
  if (replica.port != 0) ports_.erase(replica.port);
  replica.port = 0;
}

// It waits, or has ended: nobody of it listens any more.
void Pool::FreePorts(JobView& job) {
  for (job::Replica& replica : job.status.replicas) FreePort(replica);
}

// The gang keeps waiting, and says so. It is offered again when a port comes back.
void Pool::LackPorts(JobView& job, std::size_t count, base::Instant now) {
  for (const auto& [port, until] : strangers_) {
    if (until > now) ports_return_ = std::min(ports_return_, until);
  }
  const phrase::Values values{{"need", std::to_string(count)},
                              {"first", std::to_string(settings_.first_port)},
                              {"last", std::to_string(settings_.last_port)}};
  job::Reason reason{.id = "PND-Q022",
                     .constraint = "ports",
                     .message = phrase::Text("PND-Q022", phrase::Language::kEnglish, values),
                     .need = static_cast<std::int64_t>(count),
                     .values = {values.begin(), values.end()}};
  if (job.status.reason == reason || job.status.stage != job::Stage::kWaiting) return;
  job.status.reason = std::move(reason);
  job.reason_at = now;
  changed_.insert(job.identity.id);
}

// Somebody outside the pool listens there.
void Pool::NoteStranger(int port, base::Instant now) {
  std::erase_if(strangers_, [now](const auto& stranger) { return stranger.second <= now; });
  strangers_[port] = now + kStrangersTurn;
  ports_.erase(port);
}

}  // namespace pondage::pool

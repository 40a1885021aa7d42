#include "cmd/admission.h"

#include <fmt/format.h>

#include <exception>
#include <future>
#include <string>
#include <utility>

#include "agent/pod_launcher.h"
#include "manifest/tfjob.h"

namespace pondage::cmd {
namespace {

// The prefix that the Pods of a role name themselves; empty: none.
std::string OwnPrefix(const boost::json::object& tfjob, const std::string& role) {
  const auto path = "/spec/tfReplicaSpecs/" + role + "/template/metadata/annotations";
  boost::system::error_code error;
  const boost::json::value job(tfjob);
  const auto* const annotations = job.find_pointer(path, error);
  if (annotations == nullptr || !annotations->is_object()) return "";
  const auto* const prefix = annotations->get_object().if_contains(agent::kEnvironment);
  return prefix != nullptr && prefix->is_string() ? std::string(prefix->get_string()) : "";
}

// An image that no environment serves is refused when it is applied, with those that there are.
// So is one whose Python the account of jobs cannot start, and whatever else this machine does not
// give.
base::Result<void> AdmitImages(const agent::PodLauncher& launcher,
                               const boost::json::object& tfjob) {
  TRY(const job::Draft draft, manifest::DraftOf(tfjob));
  for (const job::DraftRole& role : draft.roles) {
    for (std::size_t at = 0; at < role.containers.size(); ++at) {
      const job::DraftContainer& container = role.containers[at];
      if (container.name != "tensorflow") continue;
      auto usable = launcher.MayUse(OwnPrefix(tfjob, role.spelled), container.image);
      if (usable) continue;
      base::Error wrong = std::move(usable).error();
      wrong.object = fmt::format("spec.tfReplicaSpecs[{}].template.spec.containers[{}].image",
                                 role.spelled, at);
      wrong.message = fmt::format("\"{}\": {}", container.image, wrong.message);
      return std::unexpected(std::move(wrong));
    }
  }
  for (const manifest::RoleAsk& ask : manifest::RoleAsks(tfjob)) TRY_DO(launcher.MayAsk(ask));
  return {};
}

}  // namespace

base::Result<void> Admission::Admit(const boost::json::object& tfjob) {
  return InTime([launcher = launcher_, tfjob] { return AdmitImages(*launcher, tfjob); });
}

base::Result<void> Admission::InTime(std::function<base::Result<void>()> look) {
  constexpr std::chrono::milliseconds kSlow{20};
  struct Look {
    std::promise<base::Result<void>> said;
    std::atomic<bool> one_left{false};  // it has ended, or nobody waits for it any more
  };
  const auto under_way = std::make_shared<Look>();
  auto said = under_way->said.get_future();
  const auto until =
      std::chrono::steady_clock::now() + (*hanging_ > 0 ? patience_ / 10 : patience_);
  errands_.Run([under_way, hanging = hanging_, look = std::move(look)] {
    try {
      under_way->said.set_value(look());
    } catch (...) {
      under_way->said.set_exception(std::current_exception());
    }
    if (under_way->one_left.exchange(true)) --*hanging;
  });
  while (said.wait_for(kSlow) != std::future_status::ready) {
    if (std::chrono::steady_clock::now() >= until) {
      ++*hanging_;
      if (under_way->one_left.exchange(true)) --*hanging_;
      return {};
    }
    errands_.Look();
  }
  return said.get();
}

}  // namespace pondage::cmd

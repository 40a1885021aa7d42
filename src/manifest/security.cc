#include "manifest/security.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <string_view>

namespace pondage::manifest {
namespace {

using Limits = std::numeric_limits<std::int64_t>;

constexpr std::int64_t kMostId = 2'147'483'647;

// Reads one of the two objects.
class SecurityReader {
 public:
  explicit SecurityReader(const Reader& in) : in_(in) {}

  Security Pod() {
    Both();
    out_.fs_group = Id("fsGroup");
    in_.List("supplementalGroups", [this](const boost::json::value& value, const std::string& at) {
      const auto id = WholeNumber(value);
      if (!id) return in_.trouble().Say(at, "must be a whole number, not " + Shown(value));
      if (CheckId("supplementalGroups", *id)) out_.groups.push_back(*id);
    });
    OneOf("supplementalGroupsPolicy", {"Merge", "Strict"});
    out_.strict_groups = in_.Text("supplementalGroupsPolicy") == "Strict";
    OneOf("fsGroupChangePolicy", {"OnRootMismatch", "Always"});
    OneOf("seLinuxChangePolicy", {"Recursive", "MountOption"});
    if (in_.Has("seLinuxChangePolicy")) out_.unheeded.emplace_back("seLinuxChangePolicy");
    in_.Objects("sysctls", [this](const Reader& sysctl) {
      Refuse("sysctls",
             fmt::format("{} belongs to the whole machine, which others use too; ask its "
                         "administrator to set it",
                         sysctl.Text("name")));
    });
    return std::move(out_);
  }

  Security Container() {
    Both();
    if (in_.Has("allowPrivilegeEscalation")) out_.gains = in_.Flag("allowPrivilegeEscalation");
    if (in_.Flag("privileged")) {
      Refuse("privileged",
             "a program has the rights of its account and no more; it finds its GPUs without");
    }
    const Reader capabilities = in_.Object("capabilities");
    capabilities.List("add", [this](const boost::json::value& name, const std::string&) {
      Refuse("capabilities.add", fmt::format("{} is not given: a program has the rights of its "
                                             "account and no more",
                                             Shown(name)));
    });
    capabilities.List("drop",
                      [this](const boost::json::value&, const std::string&) { out_.drops = true; });
    if (in_.Flag("readOnlyRootFilesystem")) {
      Refuse("readOnlyRootFilesystem",
             "a program sees the machine's own files, and what it may write is up to its account; "
             "mount volumes with readOnly: true instead");
    }
    OneOf("procMount", {"Default", "Unmasked"});
    return std::move(out_);
  }

 private:
  void Both() {
    out_.run_as_user = Id("runAsUser");
    out_.run_as_group = Id("runAsGroup");
    if (in_.Has("runAsNonRoot")) out_.non_root = in_.Flag("runAsNonRoot");
    for (const char* const profile : {"seccompProfile", "appArmorProfile"}) Profile(profile);
    const Reader labels = in_.Object("seLinuxOptions");
    if (labels.Present() && !labels.raw()->empty())
      Refuse("seLinuxOptions", "programs keep the label of the server; leave it out");
    if (in_.Has("windowsOptions")) Refuse("windowsOptions", "this pool is Linux; leave it out");
  }

  void Refuse(std::string field, std::string why) {
    out_.refused.push_back({std::move(field), std::move(why)});
  }

  bool CheckId(const char* field, std::int64_t id) {
    if (id >= 0 && id <= kMostId) return true;
    Refuse(field, fmt::format("{} must be between 0 and {}, inclusive", id, kMostId));
    return false;
  }

  std::optional<std::int64_t> Id(const char* field) {
    auto id = in_.Int(field, Limits::min(), Limits::max());
    if (id && !CheckId(field, *id)) id.reset();
    return id;
  }

  void OneOf(const char* field, std::initializer_list<std::string_view> words) {
    const auto word = in_.MaybeText(field);
    if (!word || std::ranges::find(words, std::string_view(*word)) != words.end()) return;
    Refuse(field, fmt::format("\"{}\" is not one of {}", *word, fmt::join(words, ", ")));
  }

  // No profile is loaded by this runtime, so its default is none.
  void Profile(const char* field) {
    const Reader profile = in_.Object(field);
    if (!profile.Present()) return;
    const std::string type = profile.Text("type");
    if (type == "RuntimeDefault" || type == "Unconfined") return;
    Refuse(
        std::string(field) + ".type",
        fmt::format("\"{}\" is not supported: no profile is loaded for a program; RuntimeDefault "
                    "and Unconfined are taken",
                    type));
  }

  const Reader& in_;
  Security out_;
};

std::optional<std::uint32_t> Narrow(std::optional<std::int64_t> id) {
  if (!id || *id < 0 || *id > kMostId) return std::nullopt;
  return static_cast<std::uint32_t>(*id);
}

}  // namespace

Security DecodePodSecurity(const Reader& context) {
  return SecurityReader(context).Pod();
}

Security DecodeContainerSecurity(const Reader& context) {
  return SecurityReader(context).Container();
}

AskedAccount Merge(const Security& pod, const Security& container) {
  AskedAccount account;
  account.user = Narrow(container.run_as_user ? container.run_as_user : pod.run_as_user);
  account.group = Narrow(container.run_as_group ? container.run_as_group : pod.run_as_group);
  account.fs_group = Narrow(pod.fs_group);
  for (const std::int64_t group : pod.groups) account.groups.push_back(*Narrow(group));
  account.strict_groups = pod.strict_groups;
  account.non_root = container.non_root.value_or(pod.non_root.value_or(false));
  account.drops = container.drops;
  // A capability that is dropped must not come back with a set-user-id program.
  account.no_new_privileges = !container.gains.value_or(true) || container.drops;
  return account;
}

}  // namespace pondage::manifest

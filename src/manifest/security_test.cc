#include "manifest/security.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <span>

#include "manifest/fields.h"
#include "manifest/object.h"

namespace pondage::manifest {
namespace {

using ::testing::HasSubstr;

struct Row {
  const char* field;    // of the object
  const char* context;  // JSON
  const char* outcome;  // a part of why it is refused; "" when it is not
};

Security Decode(const char* context, bool of_pod) {
  const boost::json::value value = *ParseJson(context);
  Trouble trouble;
  const Reader reader(&value, "", trouble);
  Security security = of_pod ? DecodePodSecurity(reader) : DecodeContainerSecurity(reader);
  EXPECT_FALSE(trouble.Any()) << context;
  return security;
}

void Check(std::span<const Row> rows, bool of_pod) {
  std::set<std::string_view> covered;
  for (const Row& row : rows) covered.insert(row.field);
  for (const Field& field : FindMessage(of_pod ? "PodSecurityContext" : "SecurityContext")->fields)
    EXPECT_TRUE(covered.contains(field.name)) << field.name << " has no row";
  for (const Row& row : rows) {
    SCOPED_TRACE(row.context);
    const Security security = Decode(row.context, of_pod);
    const std::string why =
        security.refused.empty() ? "" : security.refused[0].field + ": " + security.refused[0].why;
    EXPECT_EQ(why.empty(), std::string(row.outcome).empty()) << why;
    EXPECT_THAT(why, HasSubstr(row.outcome));
    if (!why.empty()) {
      EXPECT_TRUE(why.starts_with(row.field)) << why;
    }
  }
}

constexpr Row kPod[] = {
    {"runAsUser", R"({"runAsUser": 1000})", ""},
    {"runAsUser", R"({"runAsUser": -1})", "-1 must be between 0 and 2147483647"},
    {"runAsUser", R"({"runAsUser": 2147483648})", "must be between"},
    {"runAsGroup", R"({"runAsGroup": 0})", ""},
    {"runAsGroup", R"({"runAsGroup": 4294967296})", "must be between"},
    {"runAsNonRoot", R"({"runAsNonRoot": true})", ""},
    {"fsGroup", R"({"fsGroup": 100})", ""},
    {"fsGroup", R"({"fsGroup": -5})", "must be between"},
    {"fsGroupChangePolicy", R"({"fsGroupChangePolicy": "OnRootMismatch"})", ""},
    {"fsGroupChangePolicy", R"({"fsGroupChangePolicy": "Always"})", ""},
    {"fsGroupChangePolicy", R"({"fsGroupChangePolicy": "Never"})", "is not one of"},
    {"supplementalGroups", R"({"supplementalGroups": [4, 100]})", ""},
    {"supplementalGroups", R"({"supplementalGroups": [4, -1]})", "must be between"},
    {"supplementalGroupsPolicy", R"({"supplementalGroupsPolicy": "Merge"})", ""},
    {"supplementalGroupsPolicy", R"({"supplementalGroupsPolicy": "Strict"})", ""},
    {"supplementalGroupsPolicy", R"({"supplementalGroupsPolicy": "Some"})", "is not one of"},
    {"sysctls", R"({"sysctls": []})", ""},
    {"sysctls", R"({"sysctls": [{"name": "net.core.somaxconn", "value": "1"}]})",
     "net.core.somaxconn belongs to the whole machine"},
    {"seccompProfile", R"({"seccompProfile": {"type": "RuntimeDefault"}})", ""},
    {"seccompProfile", R"({"seccompProfile": {"type": "Unconfined"}})", ""},
    {"seccompProfile", R"({"seccompProfile": {"type": "Localhost", "localhostProfile": "p"}})",
     "no profile is loaded"},
    {"appArmorProfile", R"({"appArmorProfile": {"type": "RuntimeDefault"}})", ""},
    {"appArmorProfile", R"({"appArmorProfile": {"type": "Localhost", "localhostProfile": "p"}})",
     "no profile is loaded"},
    {"seLinuxOptions", R"({"seLinuxOptions": {}})", ""},
    {"seLinuxOptions", R"({"seLinuxOptions": {"level": "s0"}})", "keep the label"},
    {"seLinuxChangePolicy", R"({"seLinuxChangePolicy": "MountOption"})", ""},
    {"seLinuxChangePolicy", R"({"seLinuxChangePolicy": "x"})", "is not one of"},
    {"windowsOptions", R"({"windowsOptions": {"hostProcess": true}})", "this pool is Linux"},
};

constexpr Row kContainer[] = {
    {"runAsUser", R"({"runAsUser": 1000})", ""},
    {"runAsUser", R"({"runAsUser": -1})", "must be between"},
    {"runAsGroup", R"({"runAsGroup": 1000})", ""},
    {"runAsNonRoot", R"({"runAsNonRoot": true})", ""},
    {"allowPrivilegeEscalation", R"({"allowPrivilegeEscalation": false})", ""},
    {"allowPrivilegeEscalation", R"({"allowPrivilegeEscalation": true})", ""},
    {"privileged", R"({"privileged": false})", ""},
    {"privileged", R"({"privileged": true})", "the rights of its account and no more"},
    {"capabilities", R"({"capabilities": {"drop": ["ALL"], "add": []}})", ""},
    {"capabilities", R"({"capabilities": {"drop": ["ALL"], "add": ["SYS_ADMIN"]}})",
     "add: \"SYS_ADMIN\" is not given"},
    {"readOnlyRootFilesystem", R"({"readOnlyRootFilesystem": false})", ""},
    {"readOnlyRootFilesystem", R"({"readOnlyRootFilesystem": true})", "readOnly: true instead"},
    {"procMount", R"({"procMount": "Default"})", ""},
    {"procMount", R"({"procMount": "Unmasked"})", ""},
    {"procMount", R"({"procMount": "x"})", "is not one of"},
    {"seccompProfile", R"({"seccompProfile": {"type": "RuntimeDefault"}})", ""},
    {"seccompProfile", R"({"seccompProfile": {"type": "Localhost"}})", "no profile is loaded"},
    {"appArmorProfile", R"({"appArmorProfile": {"type": "Unconfined"}})", ""},
    {"appArmorProfile", R"({"appArmorProfile": {"type": "Localhost"}})", "no profile is loaded"},
    {"seLinuxOptions", R"({"seLinuxOptions": {"user": "u"}})", "keep the label"},
    {"windowsOptions", R"({"windowsOptions": {}})", "this pool is Linux"},
};

TEST(Security, EveryFieldIsActedOnOrRefused) {
  Check(kPod, true);
  Check(kContainer, false);
}

TEST(Security, TheContainersWordCountsBeforeThePods) {
  const Security pod = Decode(
      R"({"runAsUser": 1, "runAsGroup": 2, "fsGroup": 3, "supplementalGroups": [4], "runAsNonRoot": true})",
      true);
  EXPECT_EQ(Merge(pod, {}),
            (AskedAccount{.user = 1, .group = 2, .fs_group = 3, .groups = {4}, .non_root = true}));
  const Security container = Decode(
      R"({"runAsUser": 5, "runAsNonRoot": false, "capabilities": {"drop": ["NET_RAW"]}})", false);
  EXPECT_EQ(Merge(pod, container), (AskedAccount{.user = 5,
                                                 .group = 2,
                                                 .fs_group = 3,
                                                 .groups = {4},
                                                 .no_new_privileges = true,
                                                 .drops = true}));
  EXPECT_TRUE(Merge({}, Decode(R"({"allowPrivilegeEscalation": false})", false)).no_new_privileges);
  EXPECT_EQ(Merge({}, {}), AskedAccount{});
}

}  // namespace
}  // namespace pondage::manifest

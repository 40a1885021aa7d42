#include "view/redact.h"

#include <array>

namespace pondage::view {
namespace {

constexpr const char* kGone = "(removed)";
constexpr int kDeepest = 100;

bool SpeaksOfSecret(std::string_view key) {
  std::string lower;
  for (const char c : key) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  // Names that only point at a secret, and our own key of repeated submits, give nothing away.
  if (lower.ends_with("secretname") || lower.ends_with("idempotency-key")) return false;
  for (const char* word :
       {"token", "password", "passwd", "secret", "apikey", "api_key", "credential", "private"}) {
    if (lower.find(word) != std::string::npos) return true;
  }
  return false;
}

json::value Walk(const json::value& value, int depth);

// An entry of a container's `env`: its name stays, its value goes.
bool IsVariable(const json::object& members) {
  return members.size() == 2 && members.contains("name") && members.contains("value");
}

json::value WalkObject(const json::object& members, int depth) {
  json::object out;
  const json::value* kind = members.if_contains("kind");
  const bool secret = kind != nullptr && kind->is_string() && kind->get_string() == "Secret";
  const json::value* name = members.if_contains("name");
  const bool variable =
      IsVariable(members) && (!name->is_string() || name->get_string() != "TF_CONFIG");
  for (const auto& [key, member] : members) {
    if (key == "managedFields" || key == "kubectl.kubernetes.io/last-applied-configuration")
      continue;
    const bool scalar = !member.is_object() && !member.is_array();
    if ((variable && key == "value") || (secret && (key == "data" || key == "stringData")) ||
        (scalar && SpeaksOfSecret(key))) {
      out[key] = kGone;
    } else {
      out[key] = Walk(member, depth + 1);
    }
  }
  return out;
}

json::value Walk(const json::value& value, int depth) {
  if (depth > kDeepest) return kGone;
  if (value.is_object()) return WalkObject(value.get_object(), depth);
  if (!value.is_array()) return value;
  json::array out;
  for (const json::value& item : value.get_array()) out.push_back(Walk(item, depth + 1));
  return out;
}

}  // namespace

json::value Redacted(const json::value& value) {
  return Walk(value, 0);
}

}  // namespace pondage::view

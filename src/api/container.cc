#include "api/container.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/table.h"

namespace pondage::api {

namespace json = boost::json;

namespace {

std::vector<std::string> Containers(const json::object& pod) {
  std::vector<std::string> names;
  const json::value* list = At(pod, "spec.containers");
  if (!list || !list->is_array()) return names;
  for (const auto& container : list->get_array()) {
    if (container.is_object()) names.push_back(TextAt(container.get_object(), "name"));
  }
  return names;
}

}  // namespace

Outcome<std::string> ContainerOf(const Request& request, const json::object& pod,
                                 const std::string& pod_name) {
  const auto names = Containers(pod);
  std::string asked = request.query.Get("container");
  if (asked.empty()) {
    // Its name holds dots: not a path for At().
    const json::value* notes = At(pod, "metadata.annotations");
    if (notes && notes->is_object()) {
      const auto* own = notes->get_object().if_contains("kubectl.kubernetes.io/default-container");
      if (own && own->is_string()) asked = own->get_string();
    }
  }
  if (asked.empty() && names.size() == 1) return names.front();
  if (asked.empty()) {
    return Refuse(
        BadRequest(fmt::format("a container name must be specified for pod {}, choose one of: "
                               "[{}]",
                               pod_name, fmt::join(names, " "))));
  }
  if (std::ranges::find(names, asked) == names.end()) {
    return Refuse(BadRequest(fmt::format("container {} is not valid for pod {}", asked, pod_name)));
  }
  return asked;
}

const json::object* StatusOf(const json::object& pod, const std::string& container) {
  const json::value* list = At(pod, "status.containerStatuses");
  if (!list || !list->is_array()) return nullptr;
  for (const auto& status : list->get_array()) {
    if (status.is_object() && TextAt(status.get_object(), "name") == container) {
      return &status.get_object();
    }
  }
  return nullptr;
}

}  // namespace pondage::api

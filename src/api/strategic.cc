#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "api/patch.h"

namespace pondage::api {

namespace json = boost::json;
using manifest::Kind;

namespace {

constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kRetain = "$retainKeys";
constexpr std::string_view kDelete = "$deleteFromPrimitiveList/";
constexpr std::string_view kOrder = "$setElementOrder/";

class Merger {
 public:
  explicit Merger(const Kind& kind) : kind_(kind) {}

  json::object Merge(json::object target, const json::object& patch) {
    const std::string directive = DirectiveOf(patch);
    if (directive == "delete") return {};
    if (directive == "replace") {
      json::object replaced = patch;
      replaced.erase(kDirective);
      return replaced;
    }
    Retain(target, patch);
    for (const auto& [name, value] : patch) {
      const std::string_view key = name;
      if (key.starts_with(kDelete)) {
        DeleteFrom(target, key.substr(kDelete.size()), value);
      } else if (!key.starts_with('$')) {
        Member(target, key, value);
      }
    }
    for (const auto& [name, value] : patch) {
      const std::string_view key = name;
      if (key.starts_with(kOrder)) Order(target, key.substr(kOrder.size()), value);
    }
    return target;
  }

  const std::string& wrong() const { return wrong_; }

 private:
  std::string DirectiveOf(const json::object& patch) {
    const json::value* value = patch.if_contains(kDirective);
    if (!value) return "merge";
    const std::string text = value->is_string() ? std::string(value->get_string()) : "";
    if (text != "merge" && text != "replace" && text != "delete") {
      wrong_ = fmt::format("invalid $patch directive: {}", json::serialize(*value));
    }
    return text;
  }

  void Member(json::object& target, std::string_view key, const json::value& value) {
    if (value.is_null()) {
      target.erase(key);
      return;
    }
    json::value& member = target[key];
    if (const auto* object = value.if_object()) {
      json::object into = member.is_object() ? std::move(member.get_object()) : json::object();
      member = Merge(std::move(into), *object);
    } else if (const auto* list = value.if_array()) {
      json::array into = member.is_array() ? std::move(member.get_array()) : json::array();
      member = MergeList(key, std::move(into), *list);
    } else {
      member = value;
    }
  }

  json::array MergeList(std::string_view field, json::array target, const json::array& patch) {
    const std::string_view key = manifest::MergeKey(kind_, field);
    if (key.empty()) return patch;
    if (key == "=") {
      for (const auto& value : patch) {
        if (std::ranges::find(target, value) == target.end()) target.push_back(value);
      }
      return target;
    }
    const bool replace = std::ranges::any_of(patch, [&](const json::value& value) {
      return value.is_object() && !value.get_object().contains(key) &&
             DirectiveOf(value.get_object()) == "replace";
    });
    if (replace) target.clear();
    for (const auto& value : patch) MergeElement(key, target, value);
    return target;
  }

  void MergeElement(std::string_view key, json::array& target, const json::value& value) {
    const auto* element = value.if_object();
    const json::value* id = element ? element->if_contains(key) : nullptr;
    if (!id) {
      if (element && element->contains(kDirective)) return;
      wrong_ = fmt::format("a list element lacks its merge key \"{}\"", key);
      return;
    }
    const auto found = Find(key, target, *id);
    if (DirectiveOf(*element) == "delete") {
      if (found != target.end()) target.erase(found);
      return;
    }
    if (found == target.end()) {
      target.push_back(Merge({}, *element));
    } else {
      *found = Merge(std::move(found->as_object()), *element);
    }
  }

  static json::array::iterator Find(std::string_view key, json::array& list,
                                    const json::value& id) {
    return std::ranges::find_if(list, [&](const json::value& value) {
      const json::value* own = value.is_object() ? value.get_object().if_contains(key) : nullptr;
      return own && *own == id;
    });
  }

  static void DeleteFrom(json::object& target, std::string_view field, const json::value& gone) {
    json::value* list = target.if_contains(field);
    if (!list || !list->is_array() || !gone.is_array()) return;
    json::array left;
    for (auto& value : list->get_array()) {
      if (std::ranges::find(gone.get_array(), value) == gone.get_array().end()) {
        left.push_back(std::move(value));
      }
    }
    *list = std::move(left);
  }

  static void Retain(json::object& target, const json::object& patch) {
    const json::value* kept = patch.if_contains(kRetain);
    if (!kept || !kept->is_array()) return;
    for (auto at = target.begin(); at != target.end();) {
      const json::value name(at->key());
      const bool keep = std::ranges::find(kept->get_array(), name) != kept->get_array().end();
      at = keep ? at + 1 : target.erase(at);
    }
  }

  // Elements that the order names stand in that order; the others keep their places behind the
  // element they stood behind.
  void Order(json::object& target, std::string_view field, const json::value& order) const {
    json::value* list = target.if_contains(field);
    if (!list || !list->is_array() || !order.is_array()) return;
    const std::string_view key = manifest::MergeKey(kind_, field);
    const auto rank = [&](const json::value& element) -> std::size_t {
      for (std::size_t i = 0; i < order.get_array().size(); ++i) {
        const json::value& want = order.get_array()[i];
        if (key == "=" || key.empty()) {
          if (want == element) return i + 1;
          continue;
        }
        const json::value* id =
            element.is_object() ? element.get_object().if_contains(key) : nullptr;
        const json::value* wanted = want.is_object() ? want.get_object().if_contains(key) : nullptr;
        if (id && wanted && *id == *wanted) return i + 1;
      }
      return 0;
    };
    std::vector<std::pair<std::size_t, std::size_t>> places;  // rank, old index
    std::size_t last = 0;
    for (std::size_t i = 0; i < list->get_array().size(); ++i) {
      const std::size_t own = rank(list->get_array()[i]);
      if (own != 0) last = own;
      places.emplace_back(last, i);
    }
    std::ranges::stable_sort(places, {}, [](const auto& place) { return place.first; });
    json::array sorted;
    for (const auto& [own, index] : places) sorted.push_back(list->get_array()[index]);
    *list = std::move(sorted);
  }

  const Kind& kind_;
  std::string wrong_;
};

}  // namespace

Outcome<json::object> StrategicMerge(const Kind& kind, json::object target,
                                     const json::object& patch) {
  Merger merger(kind);
  json::object merged = merger.Merge(std::move(target), patch);
  if (!merger.wrong().empty()) return Refuse(BadRequest(merger.wrong()));
  return merged;
}

}  // namespace pondage::api

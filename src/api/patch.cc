#include "api/patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

namespace pondage::api {

namespace json = boost::json;

namespace {

constexpr std::size_t kMostOperations = 10'000;
constexpr std::size_t kMostBytes = 3 << 20;

struct Operation {
  std::string op;
  std::vector<std::string> path, from;
  const json::value* value = nullptr;
};

Problem Malformed(std::string_view why) {
  return BadRequest(fmt::format("error decoding patch: {}", why));
}

Problem Inapplicable() {
  return Unprocessable("the server rejected our request due to an error in our request");
}

// "/a~1b/0" -> {"a/b", "0"}
std::optional<std::vector<std::string>> Pointer(std::string_view text) {
  std::vector<std::string> tokens;
  if (text.empty()) return tokens;
  if (text.front() != '/') return std::nullopt;
  for (const char c : text) {
    if (c == '/') {
      tokens.emplace_back();
    } else {
      tokens.back().push_back(c);
    }
  }
  for (std::string& token : tokens) {
    for (std::size_t at = 0; (at = token.find('~', at)) != std::string::npos; ++at) {
      const char next = at + 1 < token.size() ? token[at + 1] : ' ';
      if (next != '0' && next != '1') return std::nullopt;
      token.replace(at, 2, next == '0' ? "~" : "/");
    }
  }
  return tokens;
}

std::optional<std::size_t> Index(const std::string& token) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), index);
  if (error != std::errc() || end != token.data() + token.size()) return std::nullopt;
  if (token.size() > 1 && token.front() == '0') return std::nullopt;
  return index;
}

json::value* Child(json::value& parent, const std::string& token) {
  if (auto* object = parent.if_object()) return object->if_contains(token);
  auto* array = parent.if_array();
  const auto index = array ? Index(token) : std::nullopt;
  return index && *index < array->size() ? &(*array)[*index] : nullptr;
}

json::value* Find(json::value& root, const std::vector<std::string>& path, std::size_t depth) {
  json::value* here = &root;
  for (std::size_t i = 0; i < depth && here; ++i) here = Child(*here, path[i]);
  return here;
}

bool Add(json::value& root, const std::vector<std::string>& path, json::value value) {
  if (path.empty()) {
    root = std::move(value);
    return true;
  }
  json::value* parent = Find(root, path, path.size() - 1);
  if (!parent) return false;
  if (auto* object = parent->if_object()) {
    (*object)[path.back()] = std::move(value);
    return true;
  }
  auto* array = parent->if_array();
  if (!array) return false;
  const auto index = path.back() == "-" ? std::optional(array->size()) : Index(path.back());
  if (!index || *index > array->size()) return false;
  array->insert(array->begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
  return true;
}

bool Remove(json::value& root, const std::vector<std::string>& path) {
  if (path.empty()) return false;
  json::value* parent = Find(root, path, path.size() - 1);
  if (!parent) return false;
  if (auto* object = parent->if_object()) return object->erase(path.back()) > 0;
  auto* array = parent->if_array();
  const auto index = array ? Index(path.back()) : std::nullopt;
  if (!index || *index >= array->size()) return false;
  array->erase(array->begin() + static_cast<std::ptrdiff_t>(*index));
  return true;
}

Outcome<Operation> Decode(const json::value& value) {
  const auto* object = value.if_object();
  if (!object) return Refuse(Malformed("an operation is no object"));
  Operation operation;
  const json::value* op = object->if_contains("op");
  const json::value* path = object->if_contains("path");
  if (!op || !op->is_string() || !path || !path->is_string()) {
    return Refuse(Malformed("an operation has op and path, both strings"));
  }
  operation.op = std::string(op->get_string());
  auto tokens = Pointer(path->get_string());
  if (!tokens) return Refuse(Malformed("path is no JSON pointer"));
  operation.path = *std::move(tokens);
  operation.value = object->if_contains("value");
  if (operation.op == "move" || operation.op == "copy") {
    const json::value* from = object->if_contains("from");
    auto source = from && from->is_string() ? Pointer(from->get_string()) : std::nullopt;
    if (!source) return Refuse(Malformed("from is no JSON pointer"));
    operation.from = *std::move(source);
  } else if (operation.op == "add" || operation.op == "replace" || operation.op == "test") {
    if (!operation.value) return Refuse(Malformed("an operation lacks its value"));
  } else if (operation.op != "remove") {
    return Refuse(Malformed(fmt::format("\"{}\" is no operation", operation.op)));
  }
  return operation;
}

bool IsPrefix(const std::vector<std::string>& one, const std::vector<std::string>& of) {
  return one.size() < of.size() && std::equal(one.begin(), one.end(), of.begin());
}

bool Apply(json::value& root, const Operation& operation) {
  const auto& path = operation.path;
  json::value* there = Find(root, path, path.size());
  if (operation.op == "add") return Add(root, path, *operation.value);
  if (operation.op == "remove") return Remove(root, path);
  if (operation.op == "test") return there && *there == *operation.value;
  if (operation.op == "replace") {
    if (there) *there = *operation.value;
    return there != nullptr;
  }
  const json::value* source = Find(root, operation.from, operation.from.size());
  if (!source) return false;
  json::value moved = *source;
  if (operation.op == "move" && IsPrefix(operation.from, path)) return false;
  if (operation.op == "move" && !operation.from.empty() && !Remove(root, operation.from))
    return false;
  return Add(root, path, std::move(moved));
}

}  // namespace

Outcome<json::value> JsonPatch(json::value target, const json::value& patch) {
  const auto* operations = patch.if_array();
  if (!operations) return Refuse(Malformed("a JSON patch is a list of operations"));
  if (operations->size() > kMostOperations) {
    Problem problem;
    problem.code = 413;
    problem.reason = "RequestEntityTooLarge";
    problem.message = fmt::format("the allowed maximum operations in a JSON patch is {}, got {}",
                                  kMostOperations, operations->size());
    return Refuse(std::move(problem));
  }
  std::size_t copied = 0;
  for (const json::value& one : *operations) {
    const auto operation = Decode(one);
    if (!operation) return Refuse(operation.error());
    if (operation->op == "copy") {  // copies of copies grow without bound
      const json::value* source = Find(target, operation->from, operation->from.size());
      copied += source ? json::serialize(*source).size() : 0;
      if (copied > kMostBytes) return Refuse(Inapplicable());
    }
    if (!Apply(target, *operation)) return Refuse(Inapplicable());
  }
  return target;
}

json::value MergePatch(json::value target, const json::value& patch) {
  const auto* changes = patch.if_object();
  if (!changes) return patch;
  if (!target.is_object()) target = json::object();
  json::object& object = target.get_object();
  for (const auto& [key, value] : *changes) {
    if (value.is_null()) {
      object.erase(key);
    } else {
      json::value& member = object[key];
      member = MergePatch(std::move(member), value);
    }
  }
  return target;
}

}  // namespace pondage::api

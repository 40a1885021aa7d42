#include "api/fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/table.h"
#include "manifest/fields.h"

namespace pondage::api {

namespace json = boost::json;
using manifest::Kind;

namespace {

Problem StrictProblem(const Kind& kind, const json::object& object,
                      const std::vector<std::string>& unknown, bool is_patch) {
  std::string list;
  for (const std::string& field : unknown) {
    list += fmt::format("{}unknown field \"{}\"", list.empty() ? "" : ", ", field);
  }
  if (is_patch) {
    return Invalid(kind, TextAt(object, "metadata.name"),
                   {{job::FieldErrorKind::kInvalid, "patch",
                     fmt::format("Invalid value: strict decoding error: {}", list)}});
  }
  return BadRequest(
      fmt::format("{} in version \"{}\" cannot be handled as a {}: strict decoding error: {}",
                  kind.kind, kind.version, kind.kind, list));
}

Problem TypeProblem(const Kind& kind, const json::object& object,
                    const std::vector<job::FieldError>& wrong) {
  if (kind.custom) return Invalid(kind, TextAt(object, "metadata.name"), wrong);
  return BadRequest(fmt::format("{} in version \"{}\" cannot be handled as a {}: {}: {}", kind.kind,
                                kind.version, kind.kind, wrong.front().path,
                                wrong.front().message));
}

}  // namespace

Outcome<Warnings> CheckFields(const Kind& kind, json::object& object, const json::object* old,
                              FieldValidation validation, bool is_patch) {
  const auto wrong = manifest::WrongTypes(kind.kind, object);
  if (!wrong.empty()) return Refuse(TypeProblem(kind, object, wrong));
  auto unknown = manifest::UnknownFields(kind.kind, object);
  if (unknown.empty()) return Warnings{};
  if (old) {
    const auto known = manifest::UnknownFields(kind.kind, *old);
    std::erase_if(unknown, [&](const std::string& field) {
      return std::ranges::find(known, field) != known.end();
    });
    if (unknown.empty()) return Warnings{};
  }
  if (validation == FieldValidation::kStrict) {
    return Refuse(StrictProblem(kind, object, unknown, is_patch));
  }
  manifest::Prune(kind.kind, object);
  Warnings warnings;
  if (validation == FieldValidation::kIgnore) return warnings;
  for (const std::string& field : unknown) {
    warnings.push_back(fmt::format("unknown field \"{}\"", field));
  }
  return warnings;
}

}  // namespace pondage::api

#include "store/version.h"

#include <memory>

#include "store/crc32c.h"

namespace pondage::store {

using base::Fail;
using base::Kind;
using base::Result;

namespace {

struct Fields {
  std::string_view kind, space, name, uid;
  std::int64_t revision, created, previous, deleted, splice;
  std::string_view facets, body;
};

std::int64_t Sum(const Fields& fields) {
  Crc32c sum;
  for (const std::int64_t number :
       {fields.revision, fields.created, fields.previous, fields.deleted, fields.splice}) {
    sum.Add(number);
  }
  for (const std::string_view bytes :
       {fields.kind, fields.space, fields.name, fields.uid, fields.facets, fields.body}) {
    sum.Add(bytes);
  }
  return sum.Value();
}

}  // namespace

std::string NameOf(const port::Key& key) {
  return key.space.empty() ? key.kind + "/" + key.name
                           : key.kind + "/" + key.space + "/" + key.name;
}

std::int64_t ChecksumOf(const Version& version) {
  const port::Object& object = version.object;
  return Sum({.kind = object.key.kind,
              .space = object.key.space,
              .name = object.key.name,
              .uid = object.uid,
              .revision = object.revision,
              .created = object.created,
              .previous = version.previous,
              .deleted = version.deleted ? 1 : 0,
              .splice = object.splice,
              .facets = *object.facets,
              .body = *object.body});
}

std::int64_t ChecksumOfRecord(std::string_view stream, std::int64_t number,
                              std::string_view bytes) {
  Crc32c sum;
  sum.Add(stream);
  sum.Add(number);
  sum.Add(bytes);
  return sum.Value();
}

Result<void> VersionRow::Verify() const {
  const std::int64_t sum = Sum({.kind = kind_,
                                .space = space(),
                                .name = name(),
                                .uid = query_.Bytes(first_ + 3),
                                .revision = query_.Int(first_),
                                .created = query_.Int(first_ + 4),
                                .previous = query_.Int(first_ + 5),
                                .deleted = query_.Int(first_ + 6),
                                .splice = query_.Int(first_ + 7),
                                .facets = facets(),
                                .body = query_.Bytes(first_ + 10)});
  if (sum == query_.Int(first_ + 8)) return {};
  return Fail(Kind::kCorrupt, "PND-S003",
              NameOf({std::string(kind_), std::string(space()), std::string(name())}),
              "the stored object is not what was written");
}

Result<Version> VersionRow::Read() const {
  TRY_DO(Verify());
  return Version{.object = {.key = {std::string(kind_), std::string(space()), std::string(name())},
                            .uid = std::string(query_.Bytes(first_ + 3)),
                            .revision = query_.Int(first_),
                            .created = query_.Int(first_ + 4),
                            .body = std::make_shared<const std::string>(query_.Bytes(first_ + 10)),
                            .splice = static_cast<std::uint32_t>(query_.Int(first_ + 7)),
                            .facets = std::make_shared<const std::string>(facets())},
                 .previous = query_.Int(first_ + 5),
                 .deleted = deleted()};
}

}  // namespace pondage::store

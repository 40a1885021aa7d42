// Label and field selectors of a request, matched against the facets of stored objects: no parsing.
//
// Pure; a Selection is a value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/problem.h"
#include "api/request.h"
#include "manifest/kinds.h"
#include "manifest/object.h"

namespace pondage::api {

class Selection {
 public:
  // 400 for bad syntax and for a field that the kind does not offer.
  static Outcome<Selection> Of(const Request& request, const manifest::Kind& kind);

  bool Empty() const { return labels_.empty() && fields_.empty(); }
  bool Matches(std::string_view facets) const;
  // One line that every match carries, for the store's index; empty: none is known.
  std::string Facet() const;
  // True: Facet() says it all.
  bool FacetSuffices() const { return labels_.size() + fields_.size() == 1 && !Facet().empty(); }
  // The value asked of metadata.name; empty: none.
  std::string Name() const;

 private:
  std::vector<manifest::Requirement> labels_;
  std::vector<manifest::FieldRequirement> fields_;
};

}  // namespace pondage::api

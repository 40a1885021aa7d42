// The one point that every request passes: who asks, and may they.
//
// Pure over the TokenStore. Beside its namespaces a limited token reads what it needs to know about
// the pool: nodes, queues, priority classes, kinds, environments.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/problem.h"
#include "api/request.h"
#include "api/route.h"
#include "api/tokens.h"

namespace pondage::api {

// What is asked, in the words of a SubjectAccessReview.
struct Attributes {
  std::string verb, group, resource, subresource, space, name;
};

// Paths that answer anyone: signs of life and the version.
bool IsOpen(std::string_view path);

Outcome<Identity> Authenticate(std::string_view authorization, const TokenStore& tokens);

bool MayAccess(const Identity& identity, const Attributes& asked);
bool MayVisit(const Identity& identity, std::string_view path);

Outcome<void> Authorize(const Identity& identity, const Route& route, const std::string& selected);
Outcome<void> AuthorizePath(const Identity& identity, std::string_view method,
                            std::string_view path);

// Group, resource and verbs that hold everywhere for a limited token.
struct Grant {
  std::string_view group, resource;
  std::vector<std::string_view> verbs;
};
std::span<const Grant> CommonGrants();

}  // namespace pondage::api

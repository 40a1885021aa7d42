// What each kind asks of an object before it is stored: defaults, rules, refusals. Rules of TFJobs
// are job::Validate's, of Queues manifest's; here stands only what the API itself knows.
//
// Pure but for World: reads of namespaces, the host's hook for TFJobs.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "api/problem.h"
#include "api/route.h"
#include "api/world.h"

namespace pondage::api {

using Warnings = std::vector<std::string>;

// `old`: the stored object when this is an update. Changes the object to what is to be stored.
Outcome<Warnings> Admit(const manifest::Kind& kind, boost::json::object& object,
                        const boost::json::object* old, const World& world);

// Whose a TFJob is: who created it, unless an administrator says otherwise. Warns when somebody
// else's wish is passed over.
void ClaimUser(boost::json::object& tfjob, const boost::json::object* old, const Identity& identity,
               Warnings& warnings);

// May an object be created in that namespace: it exists and is not being deleted.
Outcome<void> AdmitNamespace(const Route& route, const World& world);

// May clients create, or write the status of, this kind at all?
Outcome<void> AdmitCreation(const Route& route, std::string_view name);
Outcome<void> AdmitStatus(const Route& route);
Outcome<void> AdmitDeletion(const Route& route);

}  // namespace pondage::api

// SPDX-License-Identifier: Apache-2.0
// sandbox/user_namespace.hpp - a user namespace for the program in the sandbox: the same users, but none of root's
// powers over the machine, whose namespaces, devices, sysctls and file handles belong to the outer namespace.
#pragma once

#include <string>

#include <slipway/process/start_program.hpp>

namespace slipway::sandbox {

/// Made by the parent before it forks the child, while the machine's /proc is visible.
class UserNamespace {
 public:
  UserNamespace();

  /// In the child: enters a new namespace, or continues without one if the kernel refuses it. Afterwards the parent's
  /// map() returns.
  /// @return false when it cannot continue: it is in a namespace without users
  bool enter() const;

  struct Outcome {
    std::string why_not;  ///< the reason why the child has no namespace of its own; empty: it has one
    bool goes_on = true;  ///< the child continues
  };
  /// In the parent: gives the child's namespace the users and groups of the outer one.
  Outcome map();

 private:
  Fd proc_;
  Pipe to_parent_;
  Pipe to_child_;
};

}  // namespace slipway::sandbox

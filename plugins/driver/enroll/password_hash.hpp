// SPDX-License-Identifier: Apache-2.0
// plugins/driver/enroll/password_hash.hpp - the one-time password of an enrollment, as mokutil takes it in a file
// (`mokutil --hash-file`): crypt(5)'s SHA-512 form. libcrypt is not used: its name differs between distributions.
#pragma once

#include <string>
#include <string_view>

#include <slipway/result.hpp>

namespace slipway::driver {

/// "$6$SALT$HASH", with 5000 rounds. @param salt  1 to 16 characters of [a-zA-Z0-9./]
std::string sha512_crypt(std::string_view password, std::string_view salt);

/// The same with a random salt. Errors: `io` there are no random numbers.
Result<std::string> hash_of_password(std::string_view password);

/// Checks that MokManager can take the password: 1 to 256 printable characters of ASCII. Errors: `invalid`, which does
/// not quote it. @param from  where it is from, for the message
Status check_password(std::string_view password, const std::string& from);

}  // namespace slipway::driver

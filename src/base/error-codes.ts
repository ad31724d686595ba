interface Text {
  readonly title: string
  readonly help: string
}

const withStatus = <const S extends number, const T extends Readonly<Record<string, Text>>>(status: S, codes: T) =>
  Object.fromEntries(Object.entries(codes).map(([code, text]) => [code, { status, ...text }])) as {
    readonly [K in keyof T]: T[K] & { readonly status: S }
  }

/**
 * Every code that an error body can contain, with its status, its title and what the client can do about it.
 * Codes are stable, because clients depend on them. `docs/errors.md` is generated from this table.
 */
export const errorCodes = {
  ...withStatus(400, {
    'bad-request': { title: 'Bad request', help: 'The request could not be read. `detail` names the part.' },
    'invalid-query': {
      title: 'Invalid query',
      help: 'A query parameter is malformed, repeated or out of range. `detail` names it: correct it.',
    },
    'query-too-costly': {
      title: 'Query too costly',
      help: 'The search would take too much work. Use fewer terms, wildcards and ranges, or a simpler `facetMatches`.',
    },
    'invalid-json': {
      title: 'Invalid JSON',
      help: 'The body is not well-formed JSON in UTF-8, or does not have the expected structure.',
    },
    'invalid-form': {
      title: 'Invalid form',
      help: 'The form body is malformed, or a field is missing or out of range.',
    },
    'invalid-id': {
      title: 'Invalid identifier',
      help: 'Identifiers consist of A-Z, a-z, 0-9, `_` and `-`.',
    },
    'invalid-name': {
      title: 'Invalid name',
      help: 'The name is empty, too long, reserved, or contains control characters or slashes.',
    },
    'invalid-graph': {
      title: 'Invalid RDF graph',
      help: 'The body is not an RDF graph in the declared syntax.',
    },
    'invalid-uri': { title: 'Invalid URI', help: 'An absolute URI was expected, such as `https://example.org/a`.' },
    'invalid-type': {
      title: 'Type not allowed here',
      help: 'This combination of entry type, graph type and context is not possible. `detail` has the reason.',
    },
    'invalid-quota': {
      title: 'Invalid quota',
      help: '`quota` is -1 (unlimited) or a whole number of bytes up to 2^53-1; nothing else can be set.',
    },
    'invalid-member': {
      title: 'Invalid member',
      help: 'A member of the list or group does not exist or is of the wrong kind. `detail` names it.',
    },
    'invalid-value': {
      title: 'Invalid value',
      help: 'A field of the body is out of range. `detail` names the field.',
    },
    'password-missing': {
      title: 'Password missing',
      help: 'Send a user name and a password that is not empty.',
    },
    'password-too-long': { title: 'Password too long', help: 'A password has at most 2048 characters.' },
    'password-rules': { title: 'Password rules not met', help: '`rules` lists the rules that failed.' },
    'password-unchanged': {
      title: 'Password unchanged',
      help: 'The new password must differ from the temporary one.',
    },
    'invalid-reset-token': {
      title: 'Link expired or already used',
      help: 'The link to set a new password works once, for a day. Request a new one.',
    },
    'missing-body': {
      title: 'Body missing',
      help: 'Send a body; `Content-Length: 0` stores an empty file.',
    },
    'missing-file': {
      title: 'No file in the form',
      help: 'A multipart body needs one part with a file name.',
    },
    'invalid-passkey': {
      title: 'Passkey not accepted',
      help: 'The new passkey is for another service or session, or its response is late or was already used. Request new options and try again.',
    },
    'unknown-idp': {
      title: 'Identity provider unknown',
      help: 'The request names no identity provider that is configured, and there is no default.',
    },
    'invalid-archive': {
      title: 'Invalid archive',
      help: 'The body is not a complete and unchanged archive of an export. Nothing was imported.',
    },
    'virus-found': {
      title: 'Virus found',
      help: 'The virus scanner found `signature` in the file. Nothing was stored.',
    },
    'invalid-logout-token': {
      title: 'Invalid logout token',
      help: 'The token is not a logout token of a provider of this service, or it came for the second time. `detail` names the check.',
    },
    'invalid-logout-message': {
      title: 'Invalid logout message',
      help: 'The message is not a signed `LogoutRequest` or `LogoutResponse` of this identity provider for this service, is too old, or came for the second time. `detail` names the check; `GET /management/sso` shows the values.',
    },
    'invalid-redirect': {
      title: 'Redirect not allowed',
      help: '`successurl` and `failureurl` must be absolute http(s) addresses on the host of the service or on a whitelisted host.',
    },
    'invalid-logout-request': {
      title: 'Invalid logout request',
      help: '`logoutRequest` is a SAML 2.0 `LogoutRequest` in plain XML, with one service ticket as its `SessionIndex`.',
    },
  }),
  ...withStatus(401, {
    'not-signed-in': { title: 'Not signed in', help: 'Sign in and try again.' },
    'wrong-credentials': {
      title: 'Wrong user name or password',
      help: 'The user name or the password is wrong, or this user may not sign in with a password.',
    },
    'invalid-token': {
      title: 'Invalid token',
      help: 'The `auth_token` is unknown or expired: sign in again.',
    },
    'invalid-access-token': {
      title: 'Invalid access token',
      help: 'The access token is unknown, expired, revoked, of a disabled user, or not accepted from this address: create a new one.',
    },
    'second-factor-required': {
      title: 'Second factor required',
      help: 'The password is right. Send the second factor to `POST /auth/factor` with the cookie of this response; `factors` lists the kinds. Programs use an access token.',
    },
    'password-change-required': {
      title: 'New password required',
      help: 'The password is right, but an administrator has set it as a temporary one. Send a new one to `POST /auth/new-password` with the cookie of this response. Where there is no cookie, as with HTTP Basic, sign in on the sign-in page first. Access tokens go on working.',
    },
    'passkey-refused': {
      title: 'Passkey refused',
      help: 'The passkey is not known here, or its response is wrong, late or was already used. Request new options and try again.',
    },
    'sign-in-expired': {
      title: 'Sign-in expired',
      help: 'The sign-in that waits for its next step is unknown, older than five minutes or has had too many attempts: begin again.',
    },
    'sso-refused': {
      title: 'Sign-on refused',
      help: '`check` names the failed check. Use `correlation` to find the details in the log and at `/management/sso`.',
    },
  }),
  ...withStatus(403, {
    'not-allowed': {
      title: 'Not allowed',
      help: 'You are signed in, but lack the right for this. Ask an owner or an administrator.',
    },
    'access-token-scope': {
      title: 'Not permitted by this access token',
      help: '`detail` names the scope that the token lacks. Sessions, passwords and tokens are managed with a session only.',
    },
    'account-disabled': { title: 'Account disabled', help: 'An administrator has disabled this account.' },
    'password-login-off': {
      title: 'Password login is off',
      help: 'This service does not accept passwords, or not that of the user who wants to change theirs; use single sign-on. Nothing was compared or counted.',
    },
    'current-password-required': {
      title: 'Current password required',
      help: 'Send `currentPassword` together with `password`.',
    },
    'current-password-wrong': {
      title: 'Current password wrong',
      help: '`currentPassword` does not match. The attempt counts towards the lockout.',
    },
    'second-factor-wrong': {
      title: 'Second factor wrong',
      help: 'The code is wrong, has expired or was already used. The attempt counts towards the lockout.',
    },
    'codes-locked-out': {
      title: 'Codes locked out',
      help: 'After 50 wrong codes in a row, codes of apps are refused for a day, or until an administrator lifts the lockout. Use a passkey or a recovery code. If the codes were not yours, change your password.',
    },
    'fresh-sign-in-required': {
      title: 'Fresh sign-in required',
      help: 'The last proof of who you are is older than five minutes. Send a second factor, or the password, to `POST /auth/fresh` and repeat the request.',
    },
    'passkey-login-off': {
      title: 'Sign-in with a passkey not possible',
      help: 'The passkey is right, but this user signs in through an identity provider.',
    },
    'second-factor-missing': {
      title: 'Second factor missing',
      help: 'This account must have a second factor. Until one is added, only that is possible: `POST /auth/factors`.',
    },
    'cross-site-request': {
      title: 'Cross-site request refused',
      help: 'A page of another site tried to change something with your cookie.',
    },
    'host-refused': {
      title: 'Host refused',
      help: 'The host is unknown or not public, or its port is not allowed. The operator can allow it.',
    },
    'link-password-required': {
      title: 'Password required',
      help: 'The public link has a password: send it together with the secret of the link.',
    },
    'link-password-wrong': {
      title: 'Password of the link wrong',
      help: 'The password of the public link is wrong. The attempt counts towards a lockout.',
    },
  }),
  ...withStatus(404, {
    'link-gone': {
      title: 'Link no longer works',
      help: 'The public link is incomplete, unknown or revoked; or its file was deleted, or its creator may no longer share it.',
    },
    'link-expired': {
      title: 'Link expired',
      help: 'The time of the public link is over. Ask its creator for a new one.',
    },
    'link-used-up': {
      title: 'Link used up',
      help: 'The public link has reached its number of downloads. Ask its creator for a new one.',
    },
    'not-found': {
      title: 'Not found',
      help: 'There is nothing at this address. `detail` names the id that is unknown: check it.',
    },
    'no-file': { title: 'No file', help: 'The entry exists, but has no file yet. Upload one.' },
    'unknown-token': {
      title: 'Unknown token',
      help: 'None of your sessions has this token. `GET /auth/tokens` lists them.',
    },
  }),
  ...withStatus(405, {
    'method-not-allowed': {
      title: 'Method not allowed',
      help: 'The `Allow` header lists the methods of this address.',
    },
  }),
  ...withStatus(406, {
    'not-acceptable': {
      title: 'Not acceptable',
      help: 'The resource has no representation of the types in `Accept`.',
    },
  }),
  ...withStatus(408, {
    'request-timeout': {
      title: 'Request body too slow',
      help: 'The body stopped, or arrived slower than the configured minimum rate.',
    },
  }),
  ...withStatus(409, {
    'id-taken': {
      title: 'Identifier taken',
      help: 'Another entry has or had this identifier. Choose another one. Those of users, groups and contexts are never used again.',
    },
    'name-taken': { title: 'Name taken', help: 'Another user, group or context has this name. Choose another one.' },
    'last-owner': {
      title: 'Last owner',
      help: 'The change would leave a context without anyone who administers it. Name another owner first. Administrators may do it.',
    },
    conflict: {
      title: 'Conflict',
      help: 'The request contradicts the current state. Read `detail`, read the state again, and change the request.',
    },
    'upload-offset': { title: 'Wrong offset', help: 'Ask for the offset with HEAD, and go on from there.' },
  }),
  ...withStatus(410, {
    'upload-expired': { title: 'Upload expired', help: 'Nothing was received for too long. Create a new upload.' },
  }),
  ...withStatus(412, {
    'tus-version': { title: 'Unknown version', help: '`Tus-Version` of the response lists the versions.' },
    'precondition-failed': {
      title: 'Precondition failed',
      help: 'The resource has changed since you read it: read it again.',
    },
  }),
  ...withStatus(413, {
    'upload-too-long': {
      title: 'More than declared',
      help: 'Only the bytes that `Upload-Length` declared were stored.',
    },
    'body-too-large': { title: 'Body too large', help: 'The body exceeds `limit` bytes. Send less at once.' },
    'graph-too-large': {
      title: 'Graph too large',
      help: 'The graph has more statements or more characters than `limit`. Nothing was stored.',
    },
    'quota-exceeded': {
      title: 'Quota exceeded',
      help: '`fillLevel` plus `needed` bytes would exceed the `quota` of the context. Nothing was stored. Delete files first.',
    },
    'zip-too-large': {
      title: 'Too many files for one zip',
      help: 'A zip has at most `limit` entries, counted with all that is in the lists. Download fewer at a time.',
    },
    'list-too-large': {
      title: 'Too many entries in the list',
      help: 'One request changes at most `limit` entries in a list and the lists in it, and moves at most `limit` bytes of metadata. Begin with the lists in it. Nothing was changed.',
    },
    'file-too-large': {
      title: 'File too large',
      help: 'The file exceeds `limit` bytes, the maximum of this service. Nothing was stored.',
    },
    'too-large-to-scan': {
      title: 'Too large for the virus scanner',
      help: 'Files above `limit` bytes cannot be scanned for viruses, and this service stores no file without a scan.',
    },
  }),
  ...withStatus(423, {
    'upload-locked': { title: 'Upload being completed', help: 'Ask again in some seconds.' },
  }),
  ...withStatus(460, {
    'upload-checksum': { title: 'Wrong checksum', help: 'Nothing of the request was stored: send it again.' },
  }),
  ...withStatus(415, {
    'unsupported-type': {
      title: 'Unsupported content type',
      help: '`detail` names the types accepted here.',
    },
  }),
  ...withStatus(416, {
    'range-not-satisfiable': {
      title: 'Range not satisfiable',
      help: 'The requested range is outside the file. `Content-Range` contains its size.',
    },
  }),
  ...withStatus(429, {
    'locked-out': { title: 'Locked out', help: 'Too many wrong passwords. Try again after `Retry-After` seconds.' },
    'too-many-messages': {
      title: 'Too many messages',
      help: 'You have sent as many messages as one user may send in an hour. Try again after `Retry-After` seconds.',
    },
  }),
  ...withStatus(500, {
    'internal-error': {
      title: 'Internal error',
      help: 'An error occurred in the service. Send the request id to the operator.',
    },
  }),
  ...withStatus(501, {
    'quota-not-supported': {
      title: 'Quota not supported',
      help: 'Quota is switched off: `service.data.quota=off`.',
    },
    'not-available': { title: 'Not available', help: 'This service does not offer the operation.' },
  }),
  ...withStatus(502, {
    'upstream-failed': {
      title: 'Unusable response of another server',
      help: 'Another server responded, but its response cannot be passed on.',
    },
  }),
  ...withStatus(503, {
    'store-unavailable': {
      title: 'Store unavailable',
      help: 'A server that stores data of this service does not respond. Try again after `Retry-After` seconds.',
    },
    'scan-unavailable': {
      title: 'Virus scanner unavailable',
      help: 'The file could not be scanned for viruses. Nothing was stored. Try again after `Retry-After` seconds.',
    },
    'storage-read-only': {
      title: 'Storage read-only',
      help: 'The service cannot write to its data folder. Reading works. Try again after `Retry-After` seconds.',
    },
    'store-damaged': {
      title: 'Database damaged',
      help: 'The database is inconsistent. The operator must stop the service and restore it.',
    },
    'file-missing': {
      title: 'File missing',
      help: 'The entry has a file, but its stored bytes are missing. The operator can restore them; a new upload replaces them.',
    },
    'file-damaged': {
      title: 'File damaged',
      help: 'The stored bytes of the file differ from those that were uploaded. The operator can restore them; a new upload replaces them.',
    },
    overloaded: {
      title: 'Overloaded',
      help: 'Too many requests of this kind at once. Try again after `Retry-After` seconds.',
    },
  }),
  ...withStatus(504, {
    'upstream-silent': {
      title: 'No response in time',
      help: 'Another server could not be reached or was too slow.',
    },
  }),
  ...withStatus(507, {
    'storage-full': {
      title: 'Storage full',
      help: 'The disk of the service is full. Nothing was stored. Deleting files frees space; the operator can add some.',
    },
  }),
}

export type ErrorCode = keyof typeof errorCodes

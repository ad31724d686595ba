import { type ErrorText, withStatus } from './error-text.ts'

/** The codes that no feature brings. They are stable, because clients depend on them. */
const coreCodes = {
  ...withStatus(400, {
    'bad-request': { title: 'Bad request', help: 'The request could not be read. `detail` has the reason.' },
    'invalid-query': {
      title: 'Invalid query',
      help: 'A query parameter is malformed, repeated or out of range. `detail` names it: correct it.',
    },
    'query-too-costly': {
      title: 'Query too costly',
      help: 'The request would take too much time or memory. In a search, use fewer terms, wildcards and ranges, or a simpler `facetMatches`. In any other request, ask for less at once.',
    },
    'invalid-json': {
      title: 'Invalid JSON',
      help: 'The body is not well-formed JSON, or does not have the expected structure. `detail` has the reason.',
    },
    'invalid-form': {
      title: 'Invalid form',
      help: 'The form body is malformed, or a field is missing or has a value that is not allowed. `detail` has the reason.',
    },
    'invalid-id': {
      title: 'Invalid identifier',
      help: 'An identifier has 1 to 128 characters of A-Z, a-z, 0-9, `_` and `-`, and must not be reserved.',
    },
    'invalid-name': {
      title: 'Invalid name',
      help: 'The name is empty, too long, reserved, or has characters that it must not have. `detail` says which.',
    },
    'invalid-graph': {
      title: 'Invalid RDF graph',
      help: 'The body is not an RDF graph in the declared syntax. `detail` has the reason.',
    },
    'invalid-uri': { title: 'Invalid URI', help: 'An absolute URI was expected, such as `https://example.org/a`.' },
    'invalid-type': {
      title: 'Type not allowed here',
      help: 'This combination of entry type, graph type and context is not possible. `detail` has the reason.',
    },
    'invalid-quota': {
      title: 'Invalid quota',
      help: 'A quota is -1 (unlimited) or a whole number of bytes or files from 0 to 2^53-1. `detail` names the wrong member.',
    },
    'invalid-member': {
      title: 'Invalid member',
      help: 'A member of the list or group does not exist or is of the wrong kind. `detail` names it.',
    },
    'unknown-list': {
      title: 'No such list',
      help: 'The list that was named for the entry is not in this context. It may have been deleted meanwhile.',
    },
    'invalid-value': {
      title: 'Invalid value',
      help: 'A field of the body has a value that is not allowed. `detail` names the field.',
    },
    'password-missing': {
      title: 'Password missing',
      help: 'Send a user name and a password that is not empty.',
    },
    'password-too-long': { title: 'Password too long', help: 'A password has at most 2048 characters.' },
    'password-rules': {
      title: 'Password rules not met',
      help: 'The password breaks the rules that `rules` lists. Choose another one.',
    },
    'password-unchanged': {
      title: 'Password unchanged',
      help: 'The new password must differ from the temporary one.',
    },
    'missing-body': {
      title: 'Body missing',
      help: 'Send a body; `Content-Length: 0` stores an empty file.',
    },
    'missing-file': {
      title: 'No file in the form',
      help: 'A multipart body needs one part with a file name.',
    },
    'unknown-idp': {
      title: 'Identity provider unknown',
      help: 'The request names no identity provider that is configured, and there is no default. `detail` lists the configured ones.',
    },
    'invalid-archive': {
      title: 'Invalid archive',
      help: 'The body is not a complete and unchanged archive of an export. Nothing was imported. Export the context again, and do not change the archive.',
    },
    'virus-found': {
      title: 'Virus found',
      help: 'The virus scanner found `signature` in the file. Nothing was stored.',
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
    'second-factor-required': {
      title: 'Second factor required',
      help: 'The password is right. Send the second factor to `POST /auth/factor` with the cookie of this response; `factors` lists the kinds. Programs use an access token.',
    },
    'password-change-required': {
      title: 'New password required',
      help: 'The password is right, but an administrator has set it as a temporary one. Send a new one to `POST /auth/new-password` with the cookie of this response. Where there is no cookie, as with HTTP Basic, sign in on the sign-in page first. Access tokens go on working.',
    },
    'sign-in-expired': {
      title: 'Sign-in expired',
      help: 'The sign-in that waits for its next step is unknown, older than five minutes or has had too many attempts: begin again.',
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
    'account-disabled': {
      title: 'Account disabled',
      help: 'An administrator has disabled this account. Ask an administrator to enable it.',
    },
    'password-login-off': {
      title: 'Password login is off',
      help: 'This service accepts no passwords at all, or none from this user. Use single sign-on. The service did not check the password, and counted no attempt.',
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
    'cross-site-request': {
      title: 'Cross-site request refused',
      help: 'A page of another origin tried to change something. Open the page at the address of the service, or ask the operator to allow the origin (`service.cors.origins.<n>`).',
    },
    'host-refused': {
      title: 'Host refused',
      help: 'The host is unknown or not public, or its port is not allowed. Ask the operator to allow it in the settings.',
    },
  }),
  ...withStatus(404, {
    'not-found': {
      title: 'Not found',
      help: 'There is nothing at this address, or the request names something that does not exist. `detail` names it: check it.',
    },
    'no-file': { title: 'No file', help: 'The entry exists, but has no file yet. Upload one.' },
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
      help: 'The resource cannot be returned in a type that `Accept`, `format` or `rdfFormat` names. `detail` lists the possible types, or has the reason.',
    },
  }),
  ...withStatus(408, {
    'request-timeout': {
      title: 'Request body too slow',
      help: 'The body paused for longer than `service.http.body.idle-timeout`, or arrived more slowly than 512 bytes per second. Send it again.',
    },
  }),
  ...withStatus(409, {
    'id-taken': {
      title: 'Identifier taken',
      help: 'Another entry has this identifier, or a deleted user, group or context had it. Choose another one.',
    },
    'name-taken': { title: 'Name taken', help: 'Another user, group or context has this name. Choose another one.' },
    'last-owner': {
      title: 'Last owner',
      help: 'The change would leave a context without anyone who administers it. Name another owner first. Administrators may make this change.',
    },
    conflict: {
      title: 'Conflict',
      help: 'The request contradicts the current state. Read `detail`, read the state again, and change the request.',
    },
  }),
  ...withStatus(412, {
    'precondition-failed': {
      title: 'Precondition failed',
      help: 'The resource has changed since you read it: read it again.',
    },
  }),
  ...withStatus(413, {
    'body-too-large': {
      title: 'Body too large',
      help: 'The body has more bytes, or more JSON values, than `limit`. `detail` says which. Send less at once.',
    },
    'graph-too-large': {
      title: 'Graph too large',
      help: 'The graph has more statements or characters than `limit`, or its access list has more users and groups. `detail` says which. Nothing was stored. Send a smaller graph.',
    },
    'quota-exceeded': {
      title: 'Quota exceeded',
      help: '`fillLevel` plus `needed` bytes or files (`unit`) would exceed the `quota` of the `owner`. The numbers are absent if you may not read this quota. Nothing was stored. Delete files first.',
    },
    'zip-too-large': {
      title: 'Too many files for one zip',
      help: 'A zip has at most `limit` entries, including the content of lists. Select fewer entries.',
    },
    'list-too-large': {
      title: 'Too many entries in the list',
      help: 'The request would change more than `limit` entries of a list and the lists in it, or move more than `limit` bytes of metadata and revisions. `detail` says which. Nothing was changed. Begin with the lists in the list.',
    },
    'file-too-large': {
      title: 'File too large',
      help: 'The file exceeds `limit` bytes, the maximum of this service. Nothing was stored.',
    },
    'too-large-to-scan': {
      title: 'Too large for the virus scanner',
      help: 'Files above `limit` bytes cannot be scanned for viruses, and this service stores no file without a scan. Only the operator can raise the limit.',
    },
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
      help: 'Quota is switched off on this service.',
    },
    'not-available': {
      title: 'Not available',
      help: 'This service does not offer the operation. `detail` has the reason.',
    },
  }),
  ...withStatus(502, {
    'upstream-failed': {
      title: 'Unusable response of another server',
      help: 'Another server responded, but its response cannot be used. `detail` has the reason.',
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
      help: 'The service cannot write to its data folder, or has no permission for a part of it. Try again after `Retry-After` seconds.',
    },
    'store-damaged': {
      title: 'Database damaged',
      help: 'The database is inconsistent. The operator must stop the service and recover the database.',
    },
    'file-missing': {
      title: 'File missing',
      help: 'The entry has a file, but its stored bytes are missing. The operator can restore them; a new upload replaces them.',
    },
    'file-damaged': {
      title: 'File damaged',
      help: 'The bytes of the file in a backup differ from those that were uploaded, so `restore` leaves it out.',
    },
    overloaded: {
      title: 'Overloaded',
      help: 'Too many requests of this kind at once. Try again after `Retry-After` seconds.',
    },
  }),
  ...withStatus(504, {
    'upstream-silent': {
      title: 'No response in time',
      help: 'Another server could not be reached or was too slow. Try again later.',
    },
  }),
  ...withStatus(507, {
    'storage-full': {
      title: 'Storage full',
      help: 'The disk of the service is full. Nothing was stored. Delete files, or ask the operator for more space.',
    },
  }),
}

/** The names of all codes. A feature adds a member with its own (`declare module`). */
export interface ErrorCodes {
  core: keyof typeof coreCodes
}
export type ErrorCode = ErrorCodes[keyof ErrorCodes]

/**
 * Every code that an error body can contain, with its status, its title and what the client can do about it. `docs/errors.md` is generated from
 * this table.
 */
export const errorCodes = { ...coreCodes } as Readonly<Record<ErrorCode, ErrorText>>

/** Adds the codes of a feature. @throws {TypeError} for a code that exists */
export function addErrorCodes(codes: Readonly<Record<string, ErrorText>>): void {
  const twice = Object.keys(codes).find(code => code in errorCodes)
  if (twice !== undefined) throw new TypeError(`The error code ${twice} is declared twice`)
  Object.assign(errorCodes, codes)
}

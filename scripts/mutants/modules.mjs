// What `npm run prove:mutants` changes, and the tests that must notice: modules, or the files of a module that guard something, with parts
// of the paths of their test files.

/** @typedef {{ files: string[], tests: string[] }} Module */

/** @type {Readonly<Record<string, Module>>} */
export const modules = {
  accounts: {
    files: ['src/accounts/'],
    tests: [
      'accounts/',
      'content/access-changes',
      // With a real Redis, where it is installed.
      'peers/redis-lockout',
      'proof/models',
      'scenarios/access-tokens',
      'scenarios/admin-password',
      'scenarios/audit',
      'scenarios/auth-',
      'scenarios/basic-',
      'scenarios/content-principals',
      'scenarios/directory',
      'scenarios/doctor-factors',
      'scenarios/lockout-',
      'scenarios/passkeys',
      'scenarios/password-',
      'scenarios/provider-groups',
      'scenarios/required-factor',
      'scenarios/reset-',
      'scenarios/rights-meanwhile',
      'scenarios/second-factor',
      'scenarios/sso-factor-context',
      'scenarios/sso-pending-logout',
      'scenarios/step-up',
      'scenarios/temporary-passwords',
      'scenarios/token-scopes',
      'sso/sign-on',
    ],
  },
  files: {
    files: ['src/files/'],
    tests: [
      'files/',
      'proof/models',
      'scenarios/archive-quota',
      'scenarios/files-',
      'scenarios/management-status',
      'scenarios/quota-',
      'scenarios/virus-scan',
      'scenarios/zip',
      'wire/backup',
      'wire/cli-crash',
      'wire/expected-failures',
    ],
  },
  sso: {
    files: ['src/sso/'],
    tests: [
      'scenarios/cas-',
      'scenarios/oidc-',
      'scenarios/provider-',
      'scenarios/saml-',
      'scenarios/second-factor-sso',
      'scenarios/sso-',
      'sso/',
      'ui/sso-preview',
    ],
  },
  stores: {
    files: ['src/stores/'],
    tests: [
      'accounts/breached-passwords',
      'accounts/session-nodes',
      'backup/',
      'files/faults',
      // With the real servers, where they are installed.
      'peers/redis-service',
      'peers/s3-blob-store',
      'peers/s3-outage',
      'scenarios/auth-persistent',
      'scenarios/postgres-nodes',
      'scenarios/reset-smtp',
      'stores/',
    ],
  },
  model: {
    files: ['src/model/'],
    tests: [
      'content/',
      'model/',
      'scenarios/archive-rights',
      'scenarios/auth-user-contexts',
      'scenarios/content-',
      'scenarios/limits',
      'scenarios/rights-meanwhile',
      'scenarios/search-rights',
      'scenarios/trash',
      'search/model',
    ],
  },
  http: {
    files: [
      'src/http/allowed-methods.ts',
      'src/http/app.ts',
      'src/http/caller.ts',
      'src/http/representations.ts',
      'src/http/browser-cookies.ts',
      'src/http/problem.ts',
      'src/http/protocol/body.ts',
      'src/http/protocol/sender.ts',
    ],
    tests: [
      'http/',
      'scenarios/auth-cross-site',
      'scenarios/auth-sessions',
      'scenarios/basic-challenge',
      'scenarios/content-conditional',
      'scenarios/files-limits',
      'scenarios/http-',
      'scenarios/oidc-flow',
      'scenarios/rights-meanwhile',
      'scenarios/saml-choice',
      'scenarios/token-scopes',
    ],
  },
}

/** The module of a source file, by its path in the repository. */
export const moduleOf = path =>
  Object.keys(modules).find(name =>
    modules[name].files.some(file => (file.endsWith('/') ? path.startsWith(file) : path === file)),
  )

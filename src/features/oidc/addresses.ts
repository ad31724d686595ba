/** From the base address on: where a sign-on begins, and where providers send users back to. */
export const SIGN_ON_PATH = 'auth/oidc'
export const CALLBACK_PATH = 'auth/oidc/callback'

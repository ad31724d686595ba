/** From the base address on: where a sign-on begins and ends. */
export const CAS_PATH = 'auth/cas'

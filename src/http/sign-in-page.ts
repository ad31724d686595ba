/** Additions of features to the sign-in page. Paths are relative to the base address. */
export interface SignInPage {
  /** Where users without their password ask for another one; absent where they cannot. */
  resetPath?: string
  /** How a passkey alone signs users in; absent where none does. */
  passkey?: {
    /** Answers with the options for `navigator.credentials.get()`. */
    readonly optionsPath: string
    /** Takes the response of the passkey. */
    readonly signInPath: string
  }
}

/** A setting in effect. */
export interface EffectiveSetting {
  /** As written in a file: numbered in a list, with the name of the identity provider. */
  readonly key: string
  /** A secret is masked; empty where there is no value. */
  readonly value: string
  readonly isSet: boolean
  readonly origin: 'default' | 'file' | 'environment' | '--set' | 'secret file'
  /** The heading in the reference, and the meaning there, in Markdown. */
  readonly area: string
  readonly meaning: string
}

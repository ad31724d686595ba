import { useState } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { tell } from '../components/toast.tsx'
import { t } from '../lib/language.ts'

const LENGTH = 20
/** Without characters that are easily confused. */
const kinds = ['abcdefghijkmnpqrstuvwxyz', 'ABCDEFGHJKLMNPQRSTUVWXYZ', '23456789', '-_.!#+'] as const

/**
 * A random password with characters of every kind, so that it meets the usual rules. 20 characters have about
 * 115 bits.
 */
export function generatePassword(): string {
  const all = kinds.join('')
  const signs = [...kinds, ...Array<string>(LENGTH - kinds.length).fill(all)].map(pickFrom)
  for (let at = signs.length - 1; at > 0; at--) {
    const other = below(at + 1)
    ;[signs[at], signs[other]] = [signs[other] ?? '', signs[at] ?? '']
  }
  return signs.join('')
}

const pickFrom = (signs: string): string => signs[below(signs.length)] ?? ''

/** A uniformly distributed random whole number. */
function below(limit: number): number {
  const most = Math.floor(2 ** 32 / limit) * limit
  for (;;) {
    const [number = 0] = crypto.getRandomValues(new Uint32Array(1))
    if (number < most) return number % limit
  }
}

interface GeneratePasswordProps {
  /** One that is there at first has been generated. */
  readonly password: string
  readonly onPassword: (password: string) => void
}

/** Fills in a random password and copies it, because it is not shown again. */
export function GeneratePassword({ password, onPassword }: GeneratePasswordProps) {
  const [generated, setGenerated] = useState(password)
  const generate = (): void => {
    const next = generatePassword()
    setGenerated(next)
    onPassword(next)
  }
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(password)
    tell(t('copied'))
  }
  const isGenerated = password !== '' && password === generated
  return (
    <>
      <div class="buttons">
        <Button kind="quiet" size="small" onPress={generate}>
          {t('generatePassword')}
        </Button>
        {isGenerated && (
          <Button kind="quiet" size="small" onPress={copy}>
            {t('copy')}
          </Button>
        )}
      </div>
      {isGenerated && <p class="hint">{t('passwordShownOnce')}</p>}
    </>
  )
}

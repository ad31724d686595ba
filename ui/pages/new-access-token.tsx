import { useState } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { Dialog, DialogButtons } from '../components/dialog.tsx'
import { Choice, Field } from '../components/field.tsx'
import { Form, FormError } from '../components/form.tsx'
import { ShownOnce } from '../components/shown-once.tsx'
import { createAccessToken } from '../lib/access-tokens.ts'
import { t } from '../lib/language.ts'
import { useSession } from '../lib/session.ts'

const DAY = 86_400_000
const LIFETIMES = [7, 30, 90, 365] as const

interface NewAccessTokenDialogProps {
  readonly onCreated: () => void
  readonly onClose: () => void
}

/** Asks for the purpose of a token, and shows the new token once. */
export function NewAccessTokenDialog({ onCreated, onClose }: NewAccessTokenDialogProps) {
  const [token, setToken] = useState<string>()
  return token === undefined ? (
    <Wish
      onToken={token => {
        setToken(token)
        onCreated()
      }}
      onClose={onClose}
    />
  ) : (
    <ShownOnce
      title={t('tokenCreated')}
      text={t('tokenOnce')}
      label={t('accessToken')}
      value={token}
      onClose={onClose}
    />
  )
}

/** The words between commas or spaces; `undefined` if there are none. */
function listed(text: string): readonly string[] | undefined {
  const words = text.split(/[\s,]+/).filter(word => word !== '')
  return words.length === 0 ? undefined : words
}

interface WishProps {
  readonly onToken: (token: string) => void
  readonly onClose: () => void
}

function Wish({ onToken, onClose }: WishProps) {
  const { me } = useSession()
  const [name, setName] = useState('')
  const [scope, setScope] = useState('read')
  const [days, setDays] = useState('30')
  const [contexts, setContexts] = useState('')
  const [addresses, setAddresses] = useState('')
  const create = async (): Promise<void> => {
    const [onlyContexts, onlyAddresses] = [listed(contexts), listed(addresses)]
    const wish = {
      name,
      scopes: [scope],
      expires: new Date(Date.now() + Number(days) * DAY).toISOString(),
      ...(onlyContexts && { contexts: onlyContexts }),
      ...(onlyAddresses && { addresses: onlyAddresses }),
    }
    onToken(await createAccessToken(wish))
  }
  const scopes = [
    ['read', t('scope.read')],
    ['write', t('scope.write')],
    ...(me.isAdmin
      ? ([
          ['quota', t('scope.quota')],
          ['admin', t('scope.admin')],
        ] as const)
      : []),
  ] as const
  return (
    <Dialog title={t('createToken')} onClose={onClose}>
      <Form work={create}>
        {problem => (
          <>
            <Field
              label={t('name')}
              value={name}
              onValue={setName}
              hint={t('tokenNameHint')}
              maxLength={100}
              autocomplete="off"
              required
            />
            <Choice label={t('permission')} value={scope} options={scopes} onValue={setScope} />
            <Choice
              label={t('tokenLifetime')}
              value={days}
              options={LIFETIMES.map(count => [String(count), t('days', { count })] as const)}
              onValue={setDays}
            />
            <Field
              label={t('tokenContexts')}
              value={contexts}
              onValue={setContexts}
              hint={t('tokenContextsHint')}
              autocomplete="off"
            />
            <Field
              label={t('tokenAddresses')}
              value={addresses}
              onValue={setAddresses}
              hint={t('tokenAddressesHint')}
              autocomplete="off"
            />
            <FormError problem={problem} />
            <DialogButtons onClose={onClose}>
              <Button type="submit">{t('createToken')}</Button>
            </DialogButtons>
          </>
        )}
      </Form>
    </Dialog>
  )
}

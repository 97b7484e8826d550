from trytond.model import Unique, fields
from trytond.pool import Pool, PoolMeta
from trytond.rpc import RPC
from trytond.transaction import Transaction


class Invoice(metaclass=PoolMeta):
    __name__ = 'account.invoice'

    external_id = fields.Char("External ID", readonly=True,
        help="The fuel platform's id of this invoice.")

    @classmethod
    def __setup__(cls):
        super().__setup__()
        table = cls.__table__()
        # The two sides of one invoice may be companies of one database.
        cls._sql_constraints.append(('external_id_unique',
                Unique(table, table.company, table.type, table.external_id),
                'fuelbridge_guard.msg_external_id_unique'))
        # The wizard looks at the user's rights itself.
        cls.__rpc__['fuelbridge_pay'] = RPC(
            readonly=False, check_access=False, fresh_session=True)

    @classmethod
    def copy(cls, invoices, default=None):
        default = {} if default is None else default.copy()
        default.setdefault('external_id', None)
        return super().copy(invoices, default=default)

    @classmethod
    def fuelbridge_pay(cls, id_, external_id, start):
        """Pay as the wizard does, in one transaction and once per external_id.

        start: what people enter in the wizard. What settles nothing is a
        partial payment; of more than is to pay the rest stays on the party's
        account.
        """
        Pay = Pool().get('account.invoice.pay', type='wizard')
        with Transaction().set_context(
                active_model=cls.__name__, active_id=id_, active_ids=[id_],
                fuelbridge_payment=external_id):
            session, _, _ = Pay.create()
            answer = Pay.execute(session, {'start': start}, 'choice')
            if 'view' in answer:
                ask = {'type': 'partial'}
                if start['amount'] > cls(id_).amount_to_pay:
                    lines = answer['view']['defaults']['lines_to_pay']
                    ask = {'type': 'overpayment', 'lines': lines,
                        'writeoff': None}
                Pay.execute(session, {'ask': ask}, 'pay')
            Pay.delete(session)
